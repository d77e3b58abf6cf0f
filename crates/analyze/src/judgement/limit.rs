//! Possible limits of a step, and steps of a ladder: their load, their throughput, and the step to compare each with.

use mindful_core::contract::description::Words;
use mindful_core::contract::file_read::{FileOption, InFlight};
use mindful_core::contract::metric::Counter;
use mindful_core::record::run::{Point, Run, StepRecord};
use mindful_core::stored_names;

use crate::figures::counters::Counters;
use crate::figures::work::Work;
use crate::io_job;

stored_names! {
    pub enum Limit {
        /// mindful itself.
        Client = "the client",
        /// CPU used by neither the server nor mindful.
        OthersCpu = "CPU that others used",
        /// Time in which sessions stood still.
        Stall = "a stall",
        /// CPU of the host or of the server.
        Cpu = "CPU",
        /// Redo, WAL, commits.
        Log = "redo or commit",
        /// The volume of the log is at its limit.
        LogVolume = "log volume",
        /// The time a sync of the log takes.
        SyncLatency = "sync latency",
        /// Each sync carries as many commits as sessions can offer it.
        GroupCommit = "group commit full",
        /// The processes that write dirty blocks.
        Writers = "writers",
        /// Sessions in each other's way.
        Contention = "contention",
        /// The device is at its limit for any number of requests.
        DeviceCap = "a device cap",
        /// The time a read takes.
        DeviceLatency = "device latency",
        /// The page cache serves reads before the storage.
        PageCache = "the page cache",
        /// No single limit is clear.
        Undecided = "undecided",
    }
}

impl Limit {
    /// The name with the system's own word for its log: `WAL or commit`, `WAL volume`.
    pub fn called(self, words: &Words) -> String {
        let log = &words.log;
        match self {
            Self::Log => format!("{log} or commit"),
            Self::LogVolume => format!("{log} volume"),
            Self::SyncLatency => format!("{log} sync latency"),
            Self::GroupCommit => format!("{log} group commit full"),
            limit => limit.name().to_owned(),
        }
    }

    /// Whether it is a part of the waits of commits.
    pub const fn is_of_log(self) -> bool {
        matches!(self, Self::Log | Self::LogVolume | Self::SyncLatency | Self::GroupCommit)
    }
}

/// Keys of [`Point::values`] that set only the load.
const LOAD: [&str; 6] =
    ["sessions", "threads", FileOption::Iodepth.name(), FileOption::LargeIodepth.name(), io_job::SMALL, io_job::LARGE];

/// Gain of throughput below which it is flat although twice as much is under way at once.
pub(crate) const FLAT_GAIN: f64 = 0.03;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LadderStep {
    /// Operations or I/Os that may be under way at once: one a session, or on files as many as each keeps in flight.
    pub in_flight: f64,
    pub per_s: f64,
    pub mean_us: f64,
}

impl LadderStep {
    /// Whether twice as much under way or more gained nothing and took longer.
    pub(crate) fn is_flat(before: &Self, here: &Self) -> bool {
        let (more, gain) = (here.in_flight / before.in_flight, here.per_s / before.per_s - 1.0);
        more >= 2.0 && gain.abs() <= FLAT_GAIN && here.mean_us / before.mean_us >= more * 0.8
    }

    /// The load and rate of `step` on its ladder; `None` if it did no work.
    ///
    /// Operations of several blocks share the I/Os that a session keeps in flight. More I/Os in flight then increase
    /// the time of an I/O, not of an operation.
    pub(crate) fn from_step(run: &Run, step: &StepRecord, work: Option<&Work>, counters: &Counters) -> Option<Self> {
        let Some(work) = work else { return Self::reported(step, counters) };
        let per_s = Some(work.ops() / work.seconds).filter(|rate| *rate > 0.0)?;
        let of_each = io_job::in_flight(run, &step.head).map_or(1, InFlight::total);
        let of_io = counters.ratio(Counter::ReadTimeUs, Counter::ReadRequests).filter(|_| of_each > 1);
        Some(Self {
            in_flight: f64::from(work.sessions) * f64::from(of_each),
            per_s,
            mean_us: of_io.unwrap_or(work.busy_sessions() * 1e6 / per_s),
        })
    }

    /// By read requests and the time of a single one, which is all that a report contains.
    fn reported(step: &StepRecord, counters: &Counters) -> Option<Self> {
        let sessions = Some(step.head.session_count() as f64).filter(|sessions| *sessions > 0.0)?;
        let per_s = counters.rate(Counter::ReadRequests).filter(|rate| *rate > 0.0)?;
        let mean_us = counters.ratio(Counter::SingleReadTimeUs, Counter::SingleReads)?;
        Some(Self { in_flight: sessions, per_s, mean_us })
    }
}

/// Whether twice as much under way at once, or more, gained next to nothing.
pub(crate) fn is_flat((before, here): &(LadderStep, LadderStep)) -> bool {
    here.per_s / before.per_s - 1.0 <= FLAT_GAIN
}

/// For each step of `run`: the highest of `ladder_steps` with at most half of its load, and its own; `None` without
/// one. `ladder_steps` are in the order of the steps.
pub(crate) fn ladder(run: &Run, ladder_steps: &[Option<LadderStep>]) -> Vec<Option<(LadderStep, LadderStep)>> {
    let all: Vec<_> = run.steps.iter().zip(ladder_steps).collect();
    let before = |step: &StepRecord, here: LadderStep| {
        let comparable =
            all.iter().filter(|(other, _)| is_same_ladder(run, other, step)).filter_map(|(_, here)| **here);
        let halves = comparable.filter(|before| before.in_flight * 2.0 <= here.in_flight);
        halves.max_by(|a, b| a.in_flight.total_cmp(&b.in_flight))
    };
    all.iter().map(|(step, here)| here.and_then(|here| Some((before(step, here)?, here)))).collect()
}

/// Whether two steps differ only in their load, with small and large I/Os in the same proportion.
fn is_same_ladder(run: &Run, a: &StepRecord, b: &StepRecord) -> bool {
    let others = |point: &Point| {
        let mut values = point.values.clone();
        values.retain(|key, _| !LOAD.contains(&key.as_str()));
        values
    };
    let proportion = match (io_job::in_flight(run, &a.head), io_job::in_flight(run, &b.head)) {
        (Some(a), Some(b)) => u64::from(a.small) * u64::from(b.large) == u64::from(b.small) * u64::from(a.large),
        _ => true,
    };
    proportion && others(&a.head.point) == others(&b.head.point)
}
