//! The content of a full screen, computed from events alone, without a terminal.

use std::collections::BTreeMap;

use mindful_core::contract::event::Event;
use mindful_core::contract::metric::{Counter, Scope};
use mindful_core::contract::slice::SliceReport;
use mindful_core::contract::wait::{SAMPLES, TIMES, WaitClass};
use mindful_core::plan::units::format_counted;
use mindful_core::record::latency::Recorder;
use mindful_core::record::run::StepHead;
use mindful_core::result::{Finding, Severity};

use super::seconds::{Slices, length_s};
use crate::drawing::characters::Spot;
use crate::escape;
use crate::watch::{WatchColumns, WatchedSecond, WatchedSources};

const REMEMBERED: usize = 240;
pub(super) const REMARKS: usize = 6;

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Second {
    pub ops_per_s: f64,
    pub blocks_per_s: f64,
    /// Median and 99th percentile of an operation, us.
    pub p50_us: Option<f64>,
    pub p99_us: Option<f64>,
}

#[derive(Debug, Default)]
pub(crate) struct Board {
    pub step: Option<StepHead>,
    pub boundaries_us: Vec<i64>,
    open: Slices,
    pub seconds: Vec<Second>,
    last: Option<u32>,
    /// Per second of each counter by its name, from its last two readings.
    rates: BTreeMap<String, f64>,
    /// The same of wait events: samples that found a session there, or us waited.
    waits: BTreeMap<String, f64>,
    sources: BTreeMap<String, Source>,
    pub curve: Vec<Spot>,
    whole: Recorder,
    blocks: f64,
    /// Findings, the newest last.
    pub findings: Vec<Finding>,
    /// Remarks, the newest last.
    pub remarks: Vec<String>,
    pub progress: String,
    pub block_bytes: Option<u64>,
    /// The watched system, without a run.
    pub watched: Option<WatchedBoard>,
}

/// The seconds of a server that is watched.
#[derive(Debug, Default)]
pub struct WatchedBoard {
    log_name: String,
    scopes: BTreeMap<String, Scope>,
    sources: WatchedSources,
    seconds: Vec<WatchedSecond>,
}

impl WatchedBoard {
    /// Of a system that calls its log `log_name`; `scopes` by the names of sources.
    pub fn new(log_name: &str, scopes: BTreeMap<String, Scope>) -> Self {
        Self { log_name: log_name.to_owned(), scopes, ..Self::default() }
    }

    fn apply(&mut self, event: Event) {
        self.seconds.extend(self.sources.add_event(event));
        let old = self.seconds.len().saturating_sub(REMEMBERED);
        self.seconds.drain(..old);
    }

    /// The header and the last seconds, as lines print them, on so many columns and lines.
    pub(super) fn lines(&self, wide: usize, high: usize) -> Vec<String> {
        let columns = WatchColumns::new(&self.log_name, self.scopes.clone(), wide);
        let Some(last) = self.seconds.last() else {
            return vec![" waiting for the end of the first interval".to_owned()];
        };
        let mut lines: Vec<String> = columns.header(last).lines().map(str::to_owned).collect();
        let from = self.seconds.len().saturating_sub(high.saturating_sub(lines.len()));
        lines.extend(self.seconds[from..].iter().map(|second| columns.line(second).trim_end().to_owned()));
        lines
    }
}

#[derive(Debug, Default)]
struct Source {
    names: Vec<String>,
    last: Option<(i64, Vec<Option<f64>>)>,
}

impl Board {
    pub(super) fn of_watch(watched: WatchedBoard) -> Self {
        Self { watched: Some(watched), ..Self::default() }
    }

    pub(super) fn apply(&mut self, event: Event) {
        if let Some(watched) = &mut self.watched {
            watched.apply(event.clone());
        }
        match event {
            Event::Loaded { dataset, .. } => self.block_bytes = Some(dataset.block_bytes),
            Event::Step(head) => self.begin_step(head),
            Event::Started { boundaries_us, .. } => {
                self.boundaries_us = boundaries_us;
                self.progress.clear();
            }
            Event::Slice { report, .. } => self.slice(&report),
            Event::Source { source, metrics, .. } => {
                let names = metrics.into_iter().map(|metric| metric.name).collect();
                self.sources.insert(source, Source { names, last: None });
            }
            Event::Sample { source, at_us, values, .. } => self.sample(&source, at_us, values),
            Event::StepEnd { .. } => self.end_step(),
            Event::Finding(finding) => self.findings.push(finding),
            Event::Note { text } => {
                self.remarks.push(escape(&text));
                let old = self.remarks.len().saturating_sub(REMARKS);
                self.remarks.drain(..old);
            }
            Event::Ready { ready, of } => {
                self.progress = format!("connecting: {ready} of {} ready", format_counted(of, "session"));
            }
            Event::Progress { what, done, of, .. } => {
                let share = if of > 0 {
                    format!(" {} %", u128::from(done.min(of)) * 100 / u128::from(of))
                } else {
                    String::new()
                };
                self.progress = format!("{}{share}", escape(&what));
            }
            _ => {}
        }
    }

    /// Of a block of the step, or else of the dataset.
    pub(super) fn block_bytes(&self) -> Option<u64> {
        self.step.as_ref().and_then(|step| step.point.block_bytes()).or(self.block_bytes)
    }

    fn begin_step(&mut self, head: StepHead) {
        self.step = Some(head);
        (self.boundaries_us, self.open, self.last) = (Vec::new(), Slices::default(), None);
        self.seconds.clear();
        self.rates.clear();
        self.waits.clear();
        (self.whole, self.blocks) = (Recorder::new(), 0.0);
    }

    fn slice(&mut self, report: &SliceReport) {
        let Some(head) = &self.step else { return };
        if report.index >= head.warmup_slices {
            report.ops.iter().for_each(|op| self.whole.merge(&op.latency));
        }
        let Some(whole) = self.open.add(report, head.placements.len()) else { return };
        let Some(seconds) = length_s(&self.boundaries_us, report.index) else { return };
        if report.index >= head.warmup_slices {
            self.blocks += whole.blocks as f64;
        }
        let quantile = |share| whole.service.quantile_ns(share).map(|ns| ns as f64 / 1e3);
        self.seconds.push(Second {
            ops_per_s: whole.ops as f64 / seconds,
            blocks_per_s: whole.blocks as f64 / seconds,
            p50_us: quantile(0.5),
            p99_us: quantile(0.99),
        });
        let old = self.seconds.len().saturating_sub(REMEMBERED);
        self.seconds.drain(..old);
        self.last = Some(report.index);
    }

    fn sample(&mut self, source: &str, at_us: i64, values: Vec<Option<f64>>) {
        let Some(known) = self.sources.get_mut(source) else { return };
        if let Some((before_us, before)) = known.last.take().filter(|(before_us, _)| *before_us < at_us) {
            for (name, (now, before)) in known.names.iter().zip(values.iter().zip(before)) {
                let grew = now.zip(before).map(|(now, before)| (now - before) * 1e6 / (at_us - before_us) as f64);
                let rates = if matches!(source, SAMPLES | TIMES) { &mut self.waits } else { &mut self.rates };
                if let Some(rate) = grew.filter(|rate| *rate >= 0.0) {
                    rates.insert(name.clone(), rate);
                }
            }
        }
        known.last = Some((at_us, values));
    }

    fn end_step(&mut self) {
        let Some(head) = &self.step else { return };
        let begin = self.boundaries_us.get(head.warmup_slices as usize).copied();
        let end = self.last.and_then(|last| self.boundaries_us.get(last as usize + 1)).copied();
        let seconds = begin.zip(end).map(|(begin, end)| (end - begin) as f64 / 1e6).filter(|seconds| *seconds > 0.0);
        let p99 = self.whole.quantile_ns(0.99).map(|ns| ns as f64 / 1e3);
        if let Some((seconds, y)) = seconds.zip(p99) {
            self.curve.push(Spot { x: self.blocks / seconds, y, label: head.session_count().to_string() });
        }
    }

    pub(super) fn rate(&self, counter: Counter) -> Option<f64> {
        self.rates.iter().find(|(name, _)| **name == counter).map(|(_, rate)| *rate)
    }

    /// The mean number of busy sessions at each wait event, the largest first; empty if waits are not known.
    ///
    /// A sample finds each session at one event, so samples of an event over all samples are the sessions at it. Of times,
    /// us per second are the same in millionths.
    pub(super) fn waits(&self) -> Vec<(&str, f64)> {
        let whole = if self.sources.contains_key(SAMPLES) { self.rate(Counter::Samplings) } else { Some(1e6) };
        let Some(whole) = whole.filter(|rate| *rate > 0.0) else { return Vec::new() };
        let busy = |name: &str| WaitClass::BUSY.iter().any(|class| name.starts_with(&class.counter_name("")));
        let mut waits: Vec<_> = self.waits.iter().filter(|(name, rate)| **rate > 0.0 && busy(name)).collect();
        waits.sort_by(|a, b| b.1.total_cmp(a.1));
        waits.into_iter().map(|(name, rate)| (name.as_str(), rate / whole)).collect()
    }

    /// Progress of the step: elapsed and requested seconds, of its window or before it of the warm-up.
    pub(super) fn place(&self) -> Option<(bool, f64, Option<f64>)> {
        let head = self.step.as_ref()?;
        let end = *self.boundaries_us.get(self.last? as usize + 1)?;
        let since = |boundary: u32| Some((end - self.boundaries_us.get(boundary as usize)?) as f64 / 1e6);
        if self.last? < head.warmup_slices {
            let first = self.boundaries_us.first()?;
            let all = self.boundaries_us.get(head.warmup_slices as usize).map(|end| (end - first) as f64 / 1e6);
            return Some((true, since(0)?, all));
        }
        Some((false, since(head.warmup_slices)?, head.duration_s))
    }
}

/// The worst of `findings`. The run is judged at its end, so it is never VALID before.
pub(super) fn verdict(findings: &[Finding]) -> String {
    let Some(worst) = findings.iter().max_by_key(|finding| finding.severity).filter(|f| f.severity > Severity::Info)
    else {
        return "so far no warning".to_owned();
    };
    let word = if worst.severity == Severity::Error { "INVALID" } else { "SUSPECT" };
    format!("so far {word} ({})", escape(&worst.code))
}

#[cfg(test)]
mod tests {
    use mindful_core::contract::metric::Phase;

    use super::*;
    use crate::live::events::{sample, source};

    /// A second in which these counters grew so much.
    fn apply(board: &mut Board, from: &str, grew: &[(&str, f64)]) {
        let (names, grew): (Vec<_>, Vec<_>) = grew.iter().copied().unzip();
        board.apply(source(from, &names, Phase::Boundary));
        board.apply(sample(from, 0, 0, &vec![0.0; grew.len()]));
        board.apply(sample(from, 1, 0, &grew));
    }

    #[test]
    fn sampled_waits_are_sessions_at_an_event() {
        let mut board = Board::default();
        apply(&mut board, SAMPLES, &[("read/DataFileRead", 150.0), ("cpu/cpu", 50.0), ("idle/ClientRead", 400.0)]);
        assert_eq!(board.waits(), [], "the number of samples is not known");
        apply(&mut board, "wait_sampling", &[(Counter::Samplings.name(), 50.0)]);
        assert_eq!(board.waits(), [("read/DataFileRead", 3.0), ("cpu/cpu", 1.0)]);
    }

    #[test]
    fn timed_waits_are_sessions_at_an_event() {
        let mut board = Board::default();
        apply(&mut board, TIMES, &[("log/log file sync", 2_500_000.0)]);
        assert_eq!(board.waits(), [("log/log file sync", 2.5)]);
    }
}
