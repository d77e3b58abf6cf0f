//! Writes, flushes and discards at the devices of the run that are not the run's.

use mindful_core::contract::fact::Kept;
use mindful_core::contract::metric::{Counter, MetricFamily};
use mindful_core::record::run::Run;

use crate::figures::counters::{Change, Counters};
use crate::figures::floors::{OthersBelow, places};

/// Bytes that a file system may write for its journal, for each byte of data.
const BESIDE: f64 = 1.2;
/// Bytes that it may write for each flush: the blocks of a transaction of its journal.
const OF_A_FLUSH: f64 = 32.0 * 1024.0;
const QUIET_BYTES_PER_S: f64 = 1024.0 * 1024.0;
/// Less than this share of all traffic is quiet too.
const QUIET_SHARE: f64 = 0.05;
/// A sync may take so many flushes: before the record of the journal, and after it.
pub(crate) const OF_A_SYNC: f64 = 3.0;
/// Most flushes for a sync of a database with one log. The files of the log were written before, so a sync needs no
/// journal. A second one, such as a binary log, grows.
pub(crate) const OF_A_SYNC_IN_PLACE: f64 = 1.1;
/// File systems that write a file in place.
const IN_PLACE: [&str; 2] = ["ext4", "xfs"];
const QUIET_FLUSHES_PER_S: f64 = 20.0;
/// A file system discards what deleted files occupied: short requests, now and then.
const QUIET_DISCARD_MS_PER_S: f64 = 50.0;

#[derive(Debug, Clone, PartialEq)]
pub struct ForeignWrites {
    pub device_bytes: f64,
    /// The device below that of the run which others wrote to; `None` if they wrote to that of the run.
    pub(crate) below: Option<String>,
    /// Bytes that the run wrote to them, without additions of a file system.
    pub own_bytes: f64,
    /// Flushes in addition to those of the run.
    pub flushes: f64,
    /// Time of all discards, ms/s; 0 if it is negligible: the run requests none.
    pub(crate) discard_ms: f64,
    /// Whether there are more bytes than the run and its file system explain.
    pub more_bytes: bool,
}

/// Whether there are more `flushes` than the run's `own`, 1/s.
pub(crate) fn are_of_others(flushes: f64, own: f64) -> bool {
    flushes - own > QUIET_FLUSHES_PER_S
}

/// Whether the server requests no flush but one for each sync of its log.
pub(crate) fn flushes_log_only(run: &Run) -> bool {
    let logs: Vec<_> = places(&run.environment, Kept::Log).collect();
    let [log] = &logs[..] else { return false };
    let fact = |name| run.environment.get(&format!("{log}.{name}"));
    let journal_of_data = fact("mount_options").is_some_and(|options| options.contains("data=journal"));
    fact("filesystem").is_some_and(|name| IN_PLACE.contains(&name.as_str()) && !journal_of_data)
        && run.description.as_ref().is_some_and(|found| found.syncs_log_only && !found.log_by_forced_writes)
}

impl ForeignWrites {
    /// Foreign writes of the window; `None` if they are negligible, or if a counter is unknown.
    pub(crate) fn from_counters(
        counters: &Counters,
        block_bytes: Option<f64>,
        updates: bool,
        flushes_log_only: bool,
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
            all.filter_map(Change::rate).fold(0.0, f64::max)
        };
        let most = most_of(MetricFamily::FlushesCompleted);
        let discard_ms = most_of(MetricFamily::DiscardMs);
        let discard_ms = if discard_ms > QUIET_DISCARD_MS_PER_S { discard_ms } else { 0.0 };
        // Without updates the run requests no flush. With updates but no count of syncs, the number is unknown. A
        // forced write (O_DSYNC) causes a flush without a sync.
        let asked = |syncs: f64| if syncs > 0.0 { syncs } else { rate(Counter::Commits).unwrap_or(0.0) };
        let syncs =
            if updates { rate(Counter::Syncs).or_else(|| rate(Counter::LogSyncs)).map(asked) } else { Some(0.0) };
        let at_log = rate(Counter::LogDeviceFlushes).filter(|_| flushes_log_only).unwrap_or(0.0);
        let beyond = |syncs: f64| (most - OF_A_SYNC * syncs).max(at_log - OF_A_SYNC_IN_PLACE * syncs).max(0.0);
        let flushes = syncs.map_or(0.0, beyond);
        let explained = own_bytes * if updates { 2.0 * BESIDE } else { BESIDE } + (most - flushes) * OF_A_FLUSH;
        let all = device_bytes + rate(Counter::DeviceReadBytes).unwrap_or(0.0);
        let more_bytes = device_bytes - explained > QUIET_BYTES_PER_S.max(QUIET_SHARE * all);
        let below = below.filter(|others| others.bytes_per_s > device_bytes / 2.0).map(|others| others.devices.clone());
        let found = Self { device_bytes, below, own_bytes, flushes, discard_ms, more_bytes };
        (more_bytes || flushes > QUIET_FLUSHES_PER_S || discard_ms > 0.0).then_some(found)
    }
}
