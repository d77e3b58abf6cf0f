//! The state of a run or a watch, computed from events alone: for the full screen and for lines.

use std::collections::BTreeMap;

use mindful_core::contract::event::Event;
use mindful_core::contract::metric::{Counter, Phase, Scope};
use mindful_core::contract::slice::SliceReport;
use mindful_core::contract::wait::{SAMPLES, TIMES, WaitClass};
use mindful_core::plan::units::format_counted;
use mindful_core::record::latency::Recorder;
use mindful_core::record::run::StepHead;
use mindful_core::result::{Finding, Severity};

use super::progress::Progress;
use crate::drawing::characters::Spot;
use crate::escape;
use crate::watch::{Source, WatchColumns, WatchedSecond, WatchedSources};

const REMEMBERED: usize = 240;
pub(super) const REMARKS: usize = 6;

/// A slice that all sessions have reported.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Second {
    pub index: u32,
    pub ops_per_s: f64,
    pub blocks_per_s: f64,
    /// Median and 99th percentile of an operation, us.
    pub p50_us: Option<f64>,
    pub p99_us: Option<f64>,
}

/// Reports of a slice as they come in.
#[derive(Debug, Default)]
struct Slice {
    sessions: usize,
    ops: u64,
    blocks: u64,
    service: Recorder,
}

#[derive(Debug, Default)]
pub(crate) struct Board {
    pub step: Option<StepHead>,
    pub boundaries_us: Vec<i64>,
    open: BTreeMap<u32, Slice>,
    /// The last seconds of the step, the newest last.
    pub seconds: Vec<Second>,
    sources: BTreeMap<String, Source>,
    /// Per second of each counter by its name, with the boundary at the end: of its last two readings.
    rates: BTreeMap<String, [Option<(u32, f64)>; 2]>,
    /// Per second of each wait event: samples that found a session there, or us waited.
    waits: BTreeMap<String, f64>,
    pub curve: Vec<Spot>,
    whole: Recorder,
    blocks: f64,
    /// Findings, the newest last.
    pub findings: Vec<Finding>,
    /// Remarks, the newest last.
    pub remarks: Vec<String>,
    pub progress: String,
    work: Option<Progress>,
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

impl Board {
    pub(super) fn of(watched: Option<WatchedBoard>) -> Self {
        Self { watched, ..Self::default() }
    }

    /// Applies an event; returns the new line of progress, if there is one, and whether it must be shown at once.
    pub(super) fn apply(&mut self, event: Event) -> Option<(String, bool)> {
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
            Event::Slice { report, .. } => {
                self.slice(&report)?;
                return Some((self.second_line()?, false));
            }
            Event::Source { source, metrics, phase } => {
                self.sources.insert(source.clone(), Source::new(source, metrics, phase));
            }
            Event::Sample { source, boundary, at_us, values, .. } => self.sample(&source, boundary, at_us, values),
            Event::StepEnd { .. } => {
                self.end_step();
                return Some((self.second_line()?, true));
            }
            Event::Finding(finding) => self.findings.push(finding),
            Event::Note { text } => {
                self.remarks.push(escape(&text));
                let old = self.remarks.len().saturating_sub(REMARKS);
                self.remarks.drain(..old);
            }
            Event::Ready { ready, of } => {
                self.progress = format!("connecting: {ready} of {} ready", format_counted(of, "session"));
                return Some((self.progress.clone(), ready == of));
            }
            Event::Progress { what, done, of, unit } => {
                let known = self.work.take().filter(|work| work.what == what);
                let work = known.unwrap_or_else(|| Progress::start(what, done));
                self.progress = work.message(done, of, &unit);
                let ends = of > 0 && done >= of;
                self.work = (!ends).then_some(work);
                return Some((self.progress.clone(), ends));
            }
            _ => {}
        }
        None
    }

    /// Of a block of the step, or else of the dataset.
    pub(super) fn block_bytes(&self) -> Option<u64> {
        self.step.as_ref().and_then(|step| step.point.block_bytes()).or(self.block_bytes)
    }

    fn begin_step(&mut self, head: StepHead) {
        self.step = Some(head);
        (self.boundaries_us, self.open) = (Vec::new(), BTreeMap::new());
        self.seconds.clear();
        self.rates.clear();
        self.waits.clear();
        (self.whole, self.blocks) = (Recorder::new(), 0.0);
    }

    /// Adds a report; returns whether it was the last of its slice.
    fn slice(&mut self, report: &SliceReport) -> Option<()> {
        let (head, index) = (self.step.as_ref()?, report.index);
        let slice = self.open.entry(index).or_default();
        slice.sessions += 1;
        for op in &report.ops {
            slice.ops += op.ops;
            slice.blocks += op.blocks;
            slice.service.merge(&op.latency);
        }
        if slice.sessions < head.placements.len() {
            return None;
        }
        let mut whole = self.open.remove(&index)?;
        // A slice that some session skipped, because an operation outlasted it, will never be complete.
        self.open.retain(|open, _| *open > index);
        let seconds = self.seconds_between(index, index + 1).filter(|seconds| *seconds > 0.0)?;
        let quantile = |share| whole.service.quantile_ns(share).map(|ns| ns as f64 / 1e3);
        self.seconds.push(Second {
            index,
            ops_per_s: whole.ops as f64 / seconds,
            blocks_per_s: whole.blocks as f64 / seconds,
            p50_us: quantile(0.5),
            p99_us: quantile(0.99),
        });
        let old = self.seconds.len().saturating_sub(REMEMBERED);
        self.seconds.drain(..old);
        if index >= head.warmup_slices {
            self.blocks += whole.blocks as f64;
            self.whole.merge(&whole.service.drain());
        }
        Some(())
    }

    /// Seconds from one boundary to another.
    fn seconds_between(&self, from: u32, to: u32) -> Option<f64> {
        let at = |boundary: u32| self.boundaries_us.get(boundary as usize);
        Some((at(to)? - at(from)?) as f64 / 1e6)
    }

    fn sample(&mut self, source: &str, boundary: u32, at_us: i64, values: Vec<Option<f64>>) {
        let Some(known) = self.sources.get_mut(source) else { return };
        let at_us = match known.phase {
            Phase::Boundary => at_us,
            // Read later, but it has its value at the boundary.
            Phase::Settled => self.boundaries_us.get(boundary as usize).copied().unwrap_or(at_us),
        };
        for rate in known.rates(at_us, values).into_iter().flatten() {
            let name = rate.name[source.len() + 1..].to_owned();
            if matches!(source, SAMPLES | TIMES) {
                self.waits.extend(rate.value.map(|value| (name, value)));
            } else {
                let rates = self.rates.entry(name).or_default();
                *rates = [rates[1], rate.value.map(|value| (boundary, value))];
            }
        }
    }

    fn end_step(&mut self) {
        let Some((head, last)) = self.step.as_ref().zip(self.seconds.last()) else { return };
        let seconds = self.seconds_between(head.warmup_slices, last.index + 1).filter(|seconds| *seconds > 0.0);
        let p99 = self.whole.quantile_ns(0.99).map(|ns| ns as f64 / 1e3);
        if let Some((seconds, y)) = seconds.zip(p99) {
            self.curve.push(Spot { x: self.blocks / seconds, y, label: head.session_count().to_string() });
        }
    }

    /// The last rate of `counter`.
    pub(super) fn rate(&self, counter: Counter) -> Option<f64> {
        self.last_rate(counter).map(|(_, rate)| rate)
    }

    /// The last rate of `counter`, with the boundary at its end.
    pub(super) fn last_rate(&self, counter: Counter) -> Option<(u32, f64)> {
        self.rates.get(counter.name())?[1]
    }

    /// The rate of `counter` in the slice that ends at `boundary`.
    pub(super) fn rate_until(&self, boundary: u32, counter: Counter) -> Option<f64> {
        let rates = self.rates.get(counter.name())?.iter().flatten();
        rates.into_iter().find(|(ends, _)| *ends == boundary).map(|(_, rate)| *rate)
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
        let (head, last) = (self.step.as_ref()?, self.seconds.last()?.index);
        if last < head.warmup_slices {
            return Some((true, self.seconds_between(0, last + 1)?, self.seconds_between(0, head.warmup_slices)));
        }
        Some((false, self.seconds_between(head.warmup_slices, last + 1)?, head.duration_s))
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
