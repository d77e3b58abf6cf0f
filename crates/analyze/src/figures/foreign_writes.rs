//! Writes, flushes and discards at the devices of the run that are not the run's.

use mindful_core::contract::metric::{Counter, MetricFamily};

use crate::figures::counters::Counters;
use crate::figures::floors::OthersBelow;

/// Bytes that a file system may write for its journal, for each byte of data.
const BESIDE: f64 = 1.2;
/// Bytes that it may write for each flush: the blocks of a transaction of its journal.
const OF_A_FLUSH: f64 = 32.0 * 1024.0;
const QUIET_BYTES_PER_S: f64 = 1024.0 * 1024.0;
/// Less than this share of all traffic is quiet too.
const QUIET_SHARE: f64 = 0.05;
/// A sync may take so many flushes: before the record of the journal, and after it.
pub(crate) const OF_A_SYNC: f64 = 3.0;
const QUIET_FLUSHES_PER_S: f64 = 20.0;
/// A file system discards what deleted files occupied.
const QUIET_DISCARDS_PER_S: f64 = 20.0;

#[derive(Debug, Clone, PartialEq)]
pub struct ForeignWrites {
    pub device_bytes: f64,
    /// The device below that of the run which others wrote to; `None` if they wrote to that of the run.
    pub(crate) below: Option<String>,
    /// Bytes that the run wrote to them, without additions of a file system.
    pub own_bytes: f64,
    /// Flushes in addition to those of the run.
    pub flushes: f64,
    /// Discards, 1/s; 0 if they are negligible: the run requests none.
    pub(crate) discards: f64,
    /// Whether there are more bytes than the run and its file system explain.
    pub more_bytes: bool,
}

/// Whether there are more `flushes` than the run's `own`, 1/s.
pub(crate) fn are_of_others(flushes: f64, own: f64) -> bool {
    flushes - own > QUIET_FLUSHES_PER_S
}

impl ForeignWrites {
    /// Foreign writes of the window; `None` if they are negligible, or if a counter is unknown.
    pub(crate) fn from_counters(
        counters: &Counters,
        block_bytes: Option<f64>,
        updates: bool,
        below: Option<&OthersBelow>,
    ) -> Option<Self> {
        let rate = |counter| counters.rate(counter);
        let at_device = rate(Counter::DeviceWriteBytes)?;
        let device_bytes = at_device + below.map_or(0.0, |others| others.bytes_per_s);
        let by_database = rate(Counter::PhysicalWrites).zip(block_bytes).map_or(0.0, |(writes, bytes)| writes * bytes)
            + rate(Counter::LogBytes).unwrap_or(0.0);
        let own_bytes = rate(Counter::ProcessWriteBytes)?.max(by_database);
        // A device passes them on to the one below: adding them up would count them twice.
        let most_of = |family: MetricFamily| {
            let all = counters.0.iter().filter(|change| family.find_thing(&change.name).is_some());
            all.filter_map(|change| Some(change.delta? / change.seconds)).fold(0.0, f64::max)
        };
        let most = most_of(MetricFamily::FlushesCompleted);
        let discards = most_of(MetricFamily::DiscardsCompleted);
        let discards = if discards > QUIET_DISCARDS_PER_S { discards } else { 0.0 };
        // Without updates the run requests no flush. With updates but no count of syncs, the number is unknown. A
        // forced write (O_DSYNC) causes a flush without a sync.
        let asked = |syncs: f64| if syncs > 0.0 { syncs } else { rate(Counter::Commits).unwrap_or(0.0) };
        let syncs =
            if updates { rate(Counter::Syncs).or_else(|| rate(Counter::LogSyncs)).map(asked) } else { Some(0.0) };
        let flushes = syncs.map_or(0.0, |syncs| (most - OF_A_SYNC * syncs).max(0.0));
        let explained = own_bytes * if updates { 2.0 * BESIDE } else { BESIDE } + (most - flushes) * OF_A_FLUSH;
        let all = device_bytes + rate(Counter::DeviceReadBytes).unwrap_or(0.0);
        let more_bytes = device_bytes - explained > QUIET_BYTES_PER_S.max(QUIET_SHARE * all);
        let below = below.filter(|others| others.bytes_per_s > device_bytes / 2.0).map(|others| others.devices.clone());
        let found = Self { device_bytes, below, own_bytes, flushes, discards, more_bytes };
        (more_bytes || flushes > QUIET_FLUSHES_PER_S || discards > 0.0).then_some(found)
    }
}
