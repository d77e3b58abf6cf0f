//! Commits, and the log that they wait for.

use mindful_core::contract::fact::Kept;
use mindful_core::contract::metric::{Counter, HostSource};
use mindful_core::contract::wait::{SAMPLES, is_log_sync};
use mindful_core::record::latency::{DeviceRequest, Recorder, SampledLatencies};
use mindful_core::record::run::{Facts, Run, StepRecord};
use mindful_core::result::LogSummary;
use mindful_core::workload::{Commit, OpKind};

use crate::figures::blocks;
use crate::figures::counters::Counters;
use crate::figures::floors::places;
use crate::figures::latency::{MOST_LOST, lost_share, merged, quantile_us, timed_by};
use crate::figures::window::Window;
use crate::figures::work::Work;

/// Fewest samples of syncing sessions for which the time of a sync is reported: their error is below a quarter.
const FEWEST_SAMPLES: f64 = 20.0;

/// Commits per second. Where each update commits they are the updates: some databases count transactions that only read,
/// too.
pub(crate) fn commits(run: &Run, step: &StepRecord, work: Option<&Work>, counters: &Counters) -> Option<f64> {
    let counted = counters.rate(Counter::Commits);
    let files = run.description.as_ref().is_some_and(|description| description.files);
    let Some((workload, work)) = step.head.workload.as_ref().zip(work).filter(|_| !files) else { return counted };
    let updates = work.kind(OpKind::Update).ops / work.seconds;
    match workload.commit {
        _ if updates <= 0.0 => counted,
        Commit::Each => Some(updates),
        Commit::Every(_) | Commit::Slice => counted.map(|rate| rate.min(updates)),
    }
}

pub(crate) fn log(
    run: &Run,
    step: &StepRecord,
    work: Option<&Work>,
    counters: &Counters,
    window: Option<&Window>,
) -> LogSummary {
    let updated = work.map(|work| work.kind(OpKind::Update).blocks / work.seconds);
    if updated == Some(0.0) {
        return LogSummary::default();
    }
    let rate = |counter: Counter| counters.rate(counter);
    let ratio = |part, whole| counters.ratio(part, whole);
    let apart = is_apart_from_data(&run.environment) == Some(true);
    let syncs = syncs_per_s(counters, apart);
    let per_sync = |whole: Option<f64>| whole.zip(syncs).map(|(whole, syncs)| whole / syncs);
    let changed = step.head.workload.as_ref().map(|workload| workload.redo.changed_bytes() as f64);
    let changed = changed.zip(updated).map(|(bytes, blocks)| bytes * blocks);
    let written = rate(Counter::LogWriteBytes);
    let block = blocks::step_block_bytes(run, &step.head).map(|bytes| bytes as f64);
    let data = rate(Counter::PhysicalWrites).zip(block).map(|(blocks, bytes)| blocks * bytes);
    let by_processes = rate(Counter::ProcessWriteBytes).zip(data).map(|(bytes, data)| bytes - data);
    // A lost part of the trace may be a transaction.
    let journal = rate(Counter::LogJournalBytes).filter(|_| apart && rate(Counter::TraceLost) == Some(0.0));
    let at_device = rate(Counter::LogDeviceWriteBytes);
    let other = at_device.zip(written).zip(journal).map(|((device, log), journal)| device - log - journal);
    let flushes = window.map(|window| flushes(&step.latencies, window, counters));
    let flushes = flushes.filter(|flushes| flushes.count() > 0);
    let quantile = |q| flushes.as_ref().and_then(|flushes| quantile_us(flushes, q));
    LogSummary {
        records_per_s: rate(Counter::LogRecords),
        images_per_s: rate(Counter::LogImages),
        image_share: ratio(Counter::LogImages, Counter::LogRecords).map(|share| share.min(1.0)),
        writes_per_s: rate(Counter::LogWrites),
        write_bytes_per_s: written,
        process_write_bytes_per_s: by_processes.filter(|bytes| *bytes >= 0.0),
        syncs_per_s: rate(Counter::LogSyncs),
        commits_per_sync: per_sync(commits(run, step, work, counters)),
        bytes_per_sync: per_sync(rate(Counter::LogBytes)),
        device_writes_per_s: rate(Counter::LogDeviceWrites),
        device_write_bytes_per_s: at_device,
        journal_bytes_per_s: journal,
        other_bytes_per_s: other.map(|bytes| bytes.max(0.0)),
        device_flushes_per_s: rate(Counter::LogDeviceFlushes),
        write_amplification: rate(Counter::DeviceWriteBytes).zip(changed).map(|(bytes, changed)| bytes / changed),
        checkpoint_write_share: ratio(Counter::CheckpointWrites, Counter::PhysicalWrites),
        background_write_share: ratio(Counter::BackgroundWrites, Counter::PhysicalWrites),
        sync_mean_us: sync_mean_us(counters, apart),
        flush_mean_us: ratio(Counter::LogDeviceFlushTimeUs, Counter::LogDeviceFlushes),
        flushes_timed: flushes.as_ref().map(Recorder::count),
        flush_p50_us: quantile(0.5),
        flush_p99_us: quantile(0.99),
    }
}

/// Whether the log and the data are on different devices; `None` if one of them is unknown.
pub(crate) fn is_apart_from_data(facts: &Facts) -> Option<bool> {
    let chain = |kept| facts.get(&format!("{}.device", places(facts, kept).next()?));
    Some(chain(Kept::Log)? != chain(Kept::Dataset)?)
}

/// Syncs of the log. MariaDB does not count them, but only they flush a device that contains only the log.
fn syncs_per_s(counters: &Counters, apart: bool) -> Option<f64> {
    let own_flushes = || counters.rate(Counter::LogDeviceFlushes).filter(|_| apart);
    counters.rate(Counter::LogSyncs).or_else(own_flushes).filter(|rate| *rate > 0.0)
}

/// Mean time of a sync: as the database timed it, else by Little's law from the sampled sessions in a sync. `apart`:
/// the log and the data are on different devices.
pub fn sync_mean_us(counters: &Counters, apart: bool) -> Option<f64> {
    let timed = counters.ratio(Counter::LogSyncTimeUs, Counter::LogSyncs).filter(|us| *us > 0.0);
    timed.or_else(|| {
        let samplings = counters.growth(Counter::Samplings).filter(|count| *count > 0.0)?;
        let syncing = counters.0.iter().filter(|change| change.source == SAMPLES && is_log_sync(&change.name));
        let seen =
            Some(syncing.filter_map(|change| change.delta).sum()).filter(|seen: &f64| *seen >= FEWEST_SAMPLES)?;
        Some(seen / samplings * 1e6 / syncs_per_s(counters, apart)?)
    })
}

/// The timed flushes at the device of the log. All flushes are timed, for any sampled share of other requests.
pub(crate) fn flushes(timed: &[(String, u32, SampledLatencies)], window: &Window, counters: &Counters) -> Recorder {
    if lost_share(counters).is_none_or(|share| share > MOST_LOST) {
        return Recorder::new();
    }
    merged(timed_by(HostSource::BlockTrace.name(), timed, window), DeviceRequest::Flush.name())
}
