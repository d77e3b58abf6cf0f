//! Counters over the window: differences of two readings by the time between them.

use mindful_core::contract::metric::{Counter, HostSource, MetricKind, Phase};
use mindful_core::record::run::{Reading, Series, StepRecord};
use mindful_core::result::{ObservedMetric, ObservedSource};

use crate::figures::rates;
use crate::figures::window::Window;
use crate::stats::moment::{mean, variance};

/// Latest reading that can be compared with the sessions' work, as a share of the window. It equals the limit of the
/// page-cache share.
const LATEST: f64 = 0.05;

/// Bytes that a device cannot serve without a request.
const MOVED_BYTES: f64 = 1024.0 * 1024.0;
/// Blocks that cannot have been read and written without any call.
const MOVED_BLOCKS: f64 = 1_000.0;

#[derive(Debug, Clone, PartialEq)]
pub struct Change {
    pub source: String,
    pub name: String,
    pub unit: String,
    /// Its readings at the first and the last boundary of the window.
    pub readings: [Option<f64>; 2],
    /// Its growth; `None` for a gauge, if a reading is missing, or if the counter fell because its source restarted.
    pub delta: Option<f64>,
    /// Time between the two readings, s.
    pub seconds: f64,
    /// Additional delay of the later reading after its boundary, compared with the promptest reading of the step, s.
    pub late_s: f64,
    /// Its possible error, as a share of it, if sessions published around the readings.
    pub unsure: f64,
}

impl Change {
    #[cfg(test)]
    pub(crate) fn over_ten_seconds(source: &str, name: &str, readings: [f64; 2]) -> Self {
        Self {
            source: source.to_owned(),
            name: name.to_owned(),
            unit: "1".to_owned(),
            readings: readings.map(Some),
            delta: Some(readings[1] - readings[0]).filter(|grew| *grew >= 0.0),
            seconds: 10.0,
            late_s: 0.0,
            unsure: 0.0,
        }
    }

    /// Whether its rate is of the time in which the sessions worked: on a busy host a reading may come so late that
    /// much of it belongs before or after the window.
    pub(crate) fn timely(&self) -> bool {
        self.late_s <= LATEST * self.seconds
    }

    /// Whether a share of it, computed as a difference from another counter, may be stated. It must exceed the error of
    /// its counters, or be too small to matter.
    pub(crate) fn tells(&self, share: f64) -> bool {
        share <= LATEST || share > self.unsure
    }

    pub(crate) fn rate(&self) -> Option<f64> {
        self.delta.map(|delta| delta / self.seconds)
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Counters(pub Vec<Change>);

impl Counters {
    pub(crate) fn from_step(step: &StepRecord, window: &Window) -> Self {
        Self(step.series.iter().flat_map(|series| changes(series, step, window)).collect())
    }

    /// Like [`Counters::from_step`], with late-published work assigned to its own window.
    pub(crate) fn assigned(step: &StepRecord, window: &Window) -> Self {
        let of =
            |series: &Series| assigned_changes(series, step, window).unwrap_or_else(|| changes(series, step, window));
        Self(step.series.iter().flat_map(of).collect())
    }

    /// The same with sources unknown that stood still while others show that they should not have.
    #[must_use]
    pub(crate) fn without_frozen(mut self) -> Self {
        let grew = |counter| self.growth(counter).unwrap_or(0.0);
        // Written data may stay in the page cache for a while.
        let moved = grew(Counter::ProcessReadBytes) > MOVED_BYTES;
        let worked = grew(Counter::PhysicalReads) + grew(Counter::PhysicalWrites) > MOVED_BLOCKS;
        let stood = |of: &dyn Fn(&Change) -> bool| {
            let mut counted = self.0.iter().filter(|change| of(change)).filter_map(|change| change.delta).peekable();
            counted.peek().is_some() && counted.all(|delta| delta == 0.0)
        };
        let of_device = |change: &Change| change.source == HostSource::Diskstats.name();
        let of_io = |change: &Change| {
            let io = [
                Counter::ProcessReadBytes.name(),
                Counter::ProcessWriteBytes.name(),
                "rchar",
                "wchar",
                "syscr",
                "syscw",
            ];
            change.source == HostSource::Processes.name() && io.contains(&&*change.name)
        };
        let (device, io) = (moved && stood(&of_device), worked && stood(&of_io));
        for change in &mut self.0 {
            if device && of_device(change) || io && of_io(change) {
                change.delta = None;
            }
        }
        self
    }

    /// The change of that name with a known figure. A target reports its counters after the host, and its values are
    /// more accurate.
    pub fn find(&self, counter: Counter) -> Option<&Change> {
        self.0.iter().rev().find(|change| change.name == counter && change.delta.is_some())
    }

    /// Growth per second of a counter by its source's name; `None` if no source reports it.
    pub(crate) fn rate_of_named(&self, name: &str) -> Option<f64> {
        self.0.iter().rev().find(|change| change.name == name).and_then(Change::rate)
    }

    pub(crate) fn last(&self, gauge: Counter) -> Option<f64> {
        self.0.iter().rev().find(|change| change.name == gauge)?.readings[1]
    }

    pub fn rate(&self, counter: Counter) -> Option<f64> {
        self.find(counter).and_then(Change::rate)
    }

    pub(crate) fn growth(&self, counter: Counter) -> Option<f64> {
        self.find(counter)?.delta
    }

    /// Growth of `part` by growth of `whole`; `None` if the whole did not grow.
    pub(crate) fn ratio(&self, part: Counter, whole: Counter) -> Option<f64> {
        rates::ratio(|counter| self.rate(counter), part, whole)
    }

    /// CPU of the server's processes, cores' worth: user and system, or only the known one.
    pub fn server_cores(&self) -> Option<f64> {
        let Some(user) = self.rate(Counter::ServerCpuUserUs) else {
            return self.rate(Counter::ServerCpuUs).map(|us| us / 1e6);
        };
        Some((user + self.rate(Counter::ServerCpuSystemUs).unwrap_or(0.0)) / 1e6)
    }

    /// Number of CPUs of the host, from its CPU time.
    pub fn host_cpus(&self) -> Option<f64> {
        self.rate(Counter::HostCpuTotalUs).map(|us| us / 1e6)
    }
}

fn assigned_changes(series: &Series, step: &StepRecord, window: &Window) -> Option<Vec<Change>> {
    if series.phase != Phase::Settled {
        return None;
    }
    let (first, last, assignment) = assigned(series, step, window)?;
    let us = step.boundary_us(window.last_boundary)?.saturating_sub(step.boundary_us(window.first_boundary)?);
    let mut changes = between(series, first, last, us as f64 / 1e6, 0.0);
    for change in &mut changes {
        change.delta = change.delta.map(|delta| delta * assignment.factor);
        change.unsure = assignment.unsure;
    }
    Some(changes)
}

/// The time from which on the values of a reading held. Values read in the middle of a slice were constant since the
/// boundary before it.
fn at_us(reading: &Reading, series: &Series, step: &StepRecord) -> Option<i64> {
    match series.phase {
        Phase::Boundary => Some(reading.at_us),
        Phase::Settled => step.boundary_us(reading.boundary),
    }
}

fn changes(series: &Series, step: &StepRecord, window: &Window) -> Vec<Change> {
    let mut readings = series.readings.iter().filter(|reading| window.has_boundary(reading.boundary));
    let (Some(first), Some(last)) = (readings.next(), readings.next_back()) else { return Vec::new() };
    let [begin, end] = [first, last].map(|reading| at_us(reading, series, step));
    let us = end.zip(begin).map(|(end, begin)| end.saturating_sub(begin));
    let Some(us) = us.filter(|us| *us > 0) else { return Vec::new() };
    // Boundaries are on the engine's clock, readings on the host's: only the excess over the smallest lag is certainly
    // late.
    let lag_us = |reading: &Reading| Some(reading.at_us.saturating_sub(step.boundary_us(reading.boundary)?));
    let least_us = series.readings.iter().filter_map(lag_us).min();
    let latest_us = lag_us(first).max(lag_us(last)).filter(|_| series.phase == Phase::Boundary);
    let late_us = latest_us.zip(least_us).map_or(0, |(latest, least)| latest.saturating_sub(least));
    between(series, first, last, us as f64 / 1e6, late_us as f64 / 1e6)
}

/// Growth of each counter between two readings, and the values of gauges.
fn between(series: &Series, first: &Reading, last: &Reading, seconds: f64, late_s: f64) -> Vec<Change> {
    let grown = |i: usize| first.values[i].zip(last.values[i]).map(|(a, b)| b - a).filter(|delta| *delta >= 0.0);
    let metrics = series.metrics.iter().enumerate();
    metrics
        .map(|(i, metric)| Change {
            source: series.source.clone(),
            name: metric.name.clone(),
            unit: metric.unit.clone(),
            readings: [first.values[i], last.values[i]],
            delta: grown(i).filter(|_| metric.kind == MetricKind::Counter),
            seconds,
            late_s,
            unsure: 0.0,
        })
        .collect()
}

/// Up to this share of the window's blocks, counters are used without correction.
const CLOSE: f64 = 0.01;

/// How counters that were read while sessions published are assigned to a window. Sessions publish when their slices end.
///
/// An operation may be a good part of a slice. Then a reading after a boundary lacks some work that began before it and
/// contains some that began after it. The number of blocks published by then is known, and so is the growth of a
/// counter per block, and the blocks of the window.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Assignment {
    /// Blocks of the window by blocks published between the readings.
    factor: f64,
    /// Possible error of figures, as a share of them: blocks that may or may not be in a reading, and half of the
    /// correction.
    unsure: f64,
}

/// The known readings nearest to the ends of the window, and their assignment; `None` if they need no correction.
fn assigned<'a>(
    series: &'a Series,
    step: &StepRecord,
    window: &Window,
) -> Option<(&'a Reading, &'a Reading, Assignment)> {
    let known = || series.readings.iter().filter(|reading| reading.values.iter().any(Option::is_some));
    let nearest = |boundary: u32| known().min_by_key(|reading| reading.boundary.abs_diff(boundary));
    let (first, last) = (nearest(window.first_boundary)?, nearest(window.last_boundary)?);
    let (before, after) = (published(first, series, step), published(last, series, step));
    let between = middle(after) - middle(before);
    let index = window.first_boundary..window.last_boundary;
    let reports = step.reports().filter(|report| index.contains(&report.index));
    let blocks = reports.fold(0_u64, |all, report| all.saturating_add(report.blocks())) as f64;
    if between <= 0.0 || blocks <= 0.0 {
        return None;
    }
    let factor = blocks / between;
    let open = ((after.1 - after.0) + (before.1 - before.0)) as f64 / 2.0 / between;
    let exact = (factor - 1.0).abs() <= CLOSE && (first.boundary, last.boundary) == (index.start, index.end);
    (!exact).then_some((first, last, Assignment { factor, unsure: open + (factor - 1.0).abs() / 2.0 }))
}

/// Blocks published by the time of `reading`, at least and at most. The last one of a step is read when all is.
fn published(reading: &Reading, series: &Series, step: &StepRecord) -> (u64, u64) {
    let last = series.readings.last().is_some_and(|last| last.boundary == reading.boundary);
    if last && step.finished() {
        return (step.merged.work.published.total(), step.merged.work.published.total());
    }
    let begin_us = reading.at_us.saturating_add(step.clock_offset_us);
    step.merged.work.published.blocks_between(begin_us, begin_us.saturating_add_unsigned(reading.cost_us))
}

fn middle((least, most): (u64, u64)) -> f64 {
    f64::midpoint(least as f64, most as f64)
}

/// All metrics of each source of counters, including those without a figure in the summary.
pub(crate) fn observed(step: &StepRecord, window: Option<&Window>) -> Vec<ObservedSource> {
    step.series.iter().map(|series| observed_source(series, step, window)).collect()
}

fn observed_source(series: &Series, step: &StepRecord, window: Option<&Window>) -> ObservedSource {
    let delay_us = |reading: &Reading| {
        let at_us = reading.at_us.saturating_add(step.clock_offset_us);
        Some(at_us.saturating_sub(step.boundary_us(reading.boundary)?) as f64)
    };
    let inside = |reading: &&Reading| window.is_some_and(|window| window.has_boundary(reading.boundary));
    let readings: Vec<&Reading> = series.readings.iter().filter(inside).collect();
    let metric = |number: usize, kind: MetricKind| {
        let known = readings
            .iter()
            .filter_map(|reading| Some((at_us(reading, series, step)?, (*reading.values.get(number)?)?)));
        observed_metric(kind, &known.collect::<Vec<_>>())
    };
    let metrics = series.metrics.iter().enumerate();
    let finite = |values: &[f64]| mean(values).filter(|mean| mean.is_finite());
    ObservedSource {
        source: series.source.clone(),
        readings: series.readings.len() as u32,
        cost_us: finite(&series.readings.iter().map(|reading| reading.cost_us as f64).collect::<Vec<_>>()),
        delay_us: finite(&series.readings.iter().filter_map(delay_us).collect::<Vec<_>>()),
        metrics: metrics.map(|(number, known)| (known.name.clone(), metric(number, known.kind))).collect(),
    }
}

/// A metric of `readings`, each a time and a value.
fn observed_metric(kind: MetricKind, readings: &[(i64, f64)]) -> ObservedMetric {
    let growth = |(from_us, from): (i64, f64), (to_us, to): (i64, f64)| {
        (to - from) / (to_us.saturating_sub(from_us) as f64 / 1e6)
    };
    let (value, values): (Option<f64>, Vec<f64>) = match kind {
        MetricKind::Counter => {
            let ends = readings.first().zip(readings.last()).filter(|(first, last)| first.0 < last.0);
            let grown = ends.map(|(first, last)| growth(*first, *last)).filter(|growth| *growth >= 0.0);
            (grown, readings.windows(2).map(|pair| growth(pair[0], pair[1])).collect())
        }
        MetricKind::Gauge => {
            let values: Vec<f64> = readings.iter().map(|(_, value)| *value).collect();
            (mean(&values), values)
        }
    };
    let finite = |value: &f64| value.is_finite();
    ObservedMetric { value: value.filter(finite), deviation: variance(&values).map(f64::sqrt).filter(finite) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_is_known_by_its_growth_and_a_gauge_by_its_mean() {
        let readings = [(0, 100.0), (1_000_000, 110.0), (2_000_000, 140.0)];
        let counter = observed_metric(MetricKind::Counter, &readings);
        assert_eq!(counter.value, Some(20.0));
        assert!((counter.deviation.unwrap() - 200.0_f64.sqrt()).abs() < 1e-9, "{counter:?}");
        let gauge = observed_metric(MetricKind::Gauge, &readings);
        assert!((gauge.value.unwrap() - 350.0 / 3.0).abs() < 1e-9, "{gauge:?}");
        let fell = observed_metric(MetricKind::Counter, &[(0, 5.0), (1_000_000, 1.0)]);
        assert_eq!((fell.value, fell.deviation), (None, None));
    }
}
