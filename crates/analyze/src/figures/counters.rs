//! Counters over the window: differences of two readings by the time between them.

pub(crate) mod observed;

use mindful_core::contract::metric::{Counter, HostSource, MetricKind, Phase};
use mindful_core::record::run::{Reading, Series, StepRecord};

use crate::figures::window::Window;
use crate::figures::{published, rates};

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

    fn rate(&self) -> Option<f64> {
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
        let grew = |counter| self.find(counter).and_then(|change| change.delta).unwrap_or(0.0);
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
    let (first, last, assignment) = published::assigned(series, step, window)?;
    let boundary_us = |boundary: u32| step.boundaries_us.get(boundary as usize).copied();
    let us = boundary_us(window.last_boundary)?.saturating_sub(boundary_us(window.first_boundary)?);
    let mut changes = between(series, first, last, us as f64 / 1e6, 0.0);
    for change in &mut changes {
        change.delta = change.delta.map(|delta| delta * assignment.factor);
        change.unsure = assignment.unsure;
    }
    Some(changes)
}

fn changes(series: &Series, step: &StepRecord, window: &Window) -> Vec<Change> {
    let inside = |boundary: u32| (window.first_boundary..=window.last_boundary).contains(&boundary);
    let mut readings = series.readings.iter().filter(|reading| inside(reading.boundary));
    let (Some(first), Some(last)) = (readings.next(), readings.next_back()) else { return Vec::new() };
    let boundary_us = |boundary: u32| step.boundaries_us.get(boundary as usize).copied();
    let seconds = match series.phase {
        Phase::Boundary => Some(last.at_us.saturating_sub(first.at_us) as f64 / 1e6),
        // Values read in the middle of a slice were constant since the boundary before it.
        Phase::Settled => {
            boundary_us(last.boundary).zip(boundary_us(first.boundary)).map(|(b, a)| b.saturating_sub(a) as f64 / 1e6)
        }
    };
    let Some(seconds) = seconds.filter(|seconds| *seconds > 0.0) else { return Vec::new() };
    // Boundaries are on the engine's clock, readings on the host's: only the excess over the smallest lag is certainly
    // late.
    let lag_us = |reading: &Reading| Some(reading.at_us.saturating_sub(boundary_us(reading.boundary)?));
    let least_us = series.readings.iter().filter_map(lag_us).min();
    let latest_us = lag_us(first).max(lag_us(last));
    let late_s = match series.phase {
        Phase::Boundary => {
            latest_us.zip(least_us).map_or(0.0, |(latest, least)| latest.saturating_sub(least) as f64 / 1e6)
        }
        Phase::Settled => 0.0,
    };
    between(series, first, last, seconds, late_s)
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
