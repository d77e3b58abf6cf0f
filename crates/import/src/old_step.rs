//! A measurement from a file of another tool, in the terms of our own runs: a step.

use std::collections::BTreeMap;

use mindful_core::contract::description::Words;
use mindful_core::contract::event::Event;
use mindful_core::contract::metric::{Counter, Metric, Phase};
use mindful_core::contract::slice::{OpReport, SliceReport};
use mindful_core::plan::units::format_counted;
use mindful_core::record::latency::Latency;
use mindful_core::result::finding::Finding;
use mindful_core::result::finding::{Code, codes};
use mindful_core::workload::OpKind;
use mindful_oracle_terms as oracle;

use crate::formats::orion::read::OrionPart;
use crate::report::Report;

pub const MOST_SESSIONS: u32 = 100_000;

/// Contradictions that are named.
const CONTRADICTIONS: usize = 4;

/// A counter with its unit, its help, and its growth; `None` is unknown.
pub(crate) type Growth = (Counter, &'static str, &'static str, Option<f64>);

#[derive(Debug, Clone, Default, PartialEq)]
pub struct OldStep {
    /// Name of the file, and which of several reports in it.
    pub file: String,
    pub(crate) more_files: Vec<String>,
    pub what: &'static str,
    /// The measured system: the name of an engine.
    pub(crate) engine: &'static str,
    pub(crate) words: Words,
    /// Where, as far as the file shows it.
    pub target: String,
    /// Distinguishes runs of one target that are not steps of one run.
    pub(crate) series: Option<String>,
    pub version: Option<String>,
    pub block_bytes: Option<u64>,
    pub(crate) cache_bytes: Option<u64>,
    /// Facts about the host, with the names of our own runs.
    pub(crate) host: BTreeMap<String, String>,
    /// Settings and remarks of the other tool.
    pub facts: BTreeMap<String, String>,
    /// Start time, us since the epoch; `None` without a date.
    pub(crate) began_us: Option<i64>,
    /// Sessions, or I/Os in flight if these are the load; `None` if their number is unknown.
    pub sessions: Option<u32>,
    /// Varied settings of the step besides sessions, such as the blocks of an I/O.
    pub(crate) point: BTreeMap<String, String>,
    /// Options of the other tool that distinguish steps of one run, if they differ.
    pub(crate) options: BTreeMap<String, String>,
    pub(crate) boundaries_us: Vec<i64>,
    /// Boundaries, counters and slices.
    pub events: Vec<Event>,
    /// Why the other tool failed.
    pub(crate) error: Option<String>,
    /// Findings about the figures.
    pub findings: Vec<Finding>,
    pub(crate) report: Option<Box<Report>>,
    /// A result of Orion with points that are not steps yet: other files contain the rest of them.
    pub(crate) orion: Option<Box<OrionPart>>,
}

impl OldStep {
    pub(crate) fn new(file: &str, what: &'static str, engine: &'static str, target: impl Into<String>) -> Self {
        Self { file: file.to_owned(), what, engine, target: target.into(), ..Self::default() }
    }

    pub(crate) fn of_oracle(file: &str, what: &'static str, target: impl Into<String>) -> Self {
        Self { words: oracle::words(), ..Self::new(file, what, "oracle", target) }
    }

    /// Reports that `count` parts of the file, such as lines, cannot be read; nothing for 0.
    pub(crate) fn add_damage(&mut self, count: u64, part: &str) {
        if count > 0 {
            let text = "Parts of the file are damaged. Their contents are missing from the figures.";
            self.add_finding(codes::IMPORTED_DOUBT, text, format_counted(count, part));
        }
    }

    /// Reports the figures of the file that contradict each other, as pairs of words; nothing without pairs.
    pub(crate) fn add_contradictions(&mut self, mut found: Vec<String>) {
        let more = found.len().saturating_sub(CONTRADICTIONS);
        found.truncate(CONTRADICTIONS);
        found.extend(Some(format!("{more} more")).filter(|_| more > 0));
        if !found.is_empty() {
            let text = "Figures of the file contradict each other: it was changed or combined from several files, or its \
                        release counts in an unknown way. Create the file again.";
            self.add_finding(codes::IMPORTED_DOUBT, text, found.join("; "));
        }
    }

    /// It lasted from the first of these instants to the last, us.
    pub(crate) fn set_boundaries(&mut self, boundaries_us: Vec<i64>) {
        self.boundaries_us.clone_from(&boundaries_us);
        self.events.push(Event::Started { boundaries_us, clock_offset_us: 0 });
    }

    pub(crate) fn add_counters(&mut self, source: &str, counters: Vec<Growth>) {
        let metric = |(counter, unit, help, grew): Growth| (Metric::counter(counter.name(), unit, help), grew);
        self.add_metrics(source, counters.into_iter().map(metric).collect());
    }

    /// Adds metrics with their growth from the first boundary to the last, `None` if unknown.
    pub(crate) fn add_metrics(&mut self, source: &str, metrics: Vec<(Metric, Option<f64>)>) {
        let (metrics, grew): (Vec<_>, Vec<Option<f64>>) = metrics.into_iter().unzip();
        let begin = grew.iter().map(|grew| grew.map(|_| 0.0)).collect();
        let last = self.boundaries_us.len() - 1;
        self.events.push(Event::Source { source: source.to_owned(), metrics, phase: Phase::Boundary });
        for (boundary, values) in [(0, begin), (last, grew)] {
            let (source, at_us) = (source.to_owned(), self.boundaries_us[boundary]);
            self.events.push(Event::Sample { source, boundary: boundary as u32, at_us, cost_us: 0, values });
        }
    }

    /// Adds reads or writes of `blocks` in all from boundary `index` to the next; nothing without any.
    pub(crate) fn add_slice(&mut self, index: usize, kind: OpKind, latency: Latency, blocks: u64) {
        let ops = latency.count();
        if ops > 0 {
            let (begin_us, end_us) = (self.boundaries_us[index], self.boundaries_us[index + 1]);
            let mut report = SliceReport { index: index as u32, begin_us, end_us, ..SliceReport::default() };
            *report.op_mut(kind) = OpReport { ops, blocks, latency, response: None };
            self.events.push(Event::Slice { session: 0, report });
        }
    }

    /// Adds a finding about a misleading figure.
    pub(crate) fn add_finding(&mut self, code: Code, text: impl Into<String>, evidence: impl Into<String>) {
        self.findings.push(code.finding(text, evidence));
    }
}

/// The number after the last dot of a file's name that is one, as SLOB users have it: `awr.txt.128`, `awr.128.txt`.
pub(crate) fn sessions_of(file: &str) -> Option<u32> {
    let name = file.rsplit('/').next().unwrap_or(file);
    let name = name.strip_suffix(".gz").unwrap_or(name);
    let number = |part: &str| part.parse::<u32>().ok().filter(|n| (1..=MOST_SESSIONS).contains(n));
    let mut parts = name.split('.').skip(1).collect::<Vec<_>>();
    let last = parts.pop()?;
    // Others' harness names them awr.128.txt.
    let between =
        parts.as_slice().first().filter(|_| parts.len() == 1 && ["txt", "lst", "html", "htm"].contains(&last));
    number(last).or_else(|| between.and_then(|part| number(part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_come_from_the_name_of_the_file() {
        let cases = [
            ("awr.txt.128", Some(128)),
            ("runs/awr.txt.008", Some(8)),
            ("awr.16.txt", Some(16)),
            ("awr.html.64.gz", Some(64)),
            ("awr.txt", None),
            ("awr_12.1.0.2.txt", None),
            ("128", None),
        ];
        for (file, sessions) in cases {
            assert_eq!(sessions_of(file), sessions, "{file}");
        }
    }
}
