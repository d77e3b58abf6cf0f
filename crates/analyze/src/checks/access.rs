//! Access to blocks and log: requests of several blocks, reads past the cache, a cache or a filter of the storage, the
//! span of the blocks, commits that waited, the amount of log, and the cost of the clock.

use mindful_core::contract::fact::{DeviceFact, Fact};
use mindful_core::contract::metric::Counter;
use mindful_core::plan::units::{format_bytes, format_rounded};
use mindful_core::record::run::{Facts, Run, StepRecord};
use mindful_core::result::finding::codes;
use mindful_core::result::{Finding, Severity};
use mindful_core::workload::{Commit, Compatibility, LoopSite, OpKind, Redo};

use crate::figures::blocks::{FEWEST_READS_PER_S, SINGLE_BLOCK, block_bytes, one_by_one};
use crate::judgement::headline::{HeadlineKind, percent};
use crate::step::StepAnalysis;

/// Share of the reads above which another way than the method's is reported (docs/findings.md, F1: 99 % of them must take it).
const OTHER_WAY: f64 = 0.01;
const FEWEST_UPDATES: f64 = 100.0;
/// Share of the updates that must have committed: the counters are of a window that is not quite the sessions'.
const COMMITTED: f64 = 0.9;
/// Share of the commits that must have waited: both are counted at once.
const WAITED: f64 = 0.99;
/// Fewest bytes of log that the change of a row takes; less, and nothing was changed.
const LEAST_LOG: f64 = 50.0;

/// Findings about the access to blocks over the window. A counter that an engine does not report decides nothing.
pub(crate) fn check_window(run: &Run, step: &StepRecord, found: &StepAnalysis) -> Vec<Finding> {
    let all = [
        prefetched(step, found),
        past_cache(step, found),
        filtered(found),
        storage_cache(found),
        commits_unproven(step, found),
        clock_cost(run, step, found),
    ];
    all.into_iter().flatten().collect()
}

/// Share of `part` in `whole` if `part` is more than a few.
fn share(found: &StepAnalysis, part: Counter, whole: Counter) -> Option<f64> {
    found.counters.rate(part).filter(|rate| *rate >= FEWEST_READS_PER_S)?;
    found.counters.ratio(part, whole).filter(|share| *share > OTHER_WAY)
}

/// Several blocks in one request: read ahead of their use, by a scan or a plan that sorts its blocks.
fn prefetched(step: &StepRecord, found: &StepAnalysis) -> Option<Finding> {
    let sorts = step.head.workload.as_ref().is_some_and(|workload| !workload.access.is_index());
    if sorts || !one_by_one(step, found.work.as_ref()?) {
        return None;
    }
    found.counters.rate(Counter::PhysicalReads).filter(|rate| *rate >= FEWEST_READS_PER_S)?;
    let blocks = found.counters.ratio(Counter::PhysicalReads, Counter::ReadRequests);
    let several =
        blocks.filter(|blocks| *blocks > SINGLE_BLOCK).map(|blocks| format!("{blocks:.2} blocks a read request"));
    let ahead = share(found, Counter::ReadsAhead, Counter::PhysicalReads)
        .map(|ahead| format!("{} of the blocks read were prefetched", percent(ahead)));
    let evidence = several.into_iter().chain(ahead).collect::<Vec<_>>().join(", ");
    if evidence.is_empty() {
        return None;
    }
    let text = "Read requests contained several blocks, so IOPS and latency are not those of random single blocks. \
                Look for scans in other sessions.";
    Some(codes::PREFETCHED.finding(text, evidence))
}

/// Blocks that sessions read past the cache: only scans are expected to do that.
fn past_cache(step: &StepRecord, found: &StepAnalysis) -> Option<Finding> {
    let direct = share(found, Counter::ReadsDirect, Counter::PhysicalReads)?;
    let scans = !one_by_one(step, found.work.as_ref()?);
    let (severity, text) = if scans {
        let text = "Scans read past the database's cache in requests of many blocks. They do not warm the cache.";
        (Severity::Info, text)
    } else {
        let text = "Sessions read past the database's cache although the plan has no scans, so hits and latency are \
                    not those of random single blocks. Look at the statements' plans, and for parallel queries.";
        (Severity::Warning, text)
    };
    let evidence = format!("{} of the blocks read were read past the cache", percent(direct));
    Some(Finding::new(codes::READ_PAST_CACHE, severity, text, evidence))
}

/// Rows that the storage filtered: their blocks were visited there and were not sent.
fn filtered(found: &StepAnalysis) -> Option<Finding> {
    let bytes = found.counters.rate(Counter::FilteredBytes).filter(|bytes| *bytes > 0.0)?;
    let text = "Storage filtered the rows of scans itself (Exadata smart scan), so the database received less than \
                was read.";
    Some(codes::STORAGE_FILTERS.finding(text, format!("{:.1} MiB/s sent after filtering", bytes / f64::from(1 << 20))))
}

/// Reads that a cache of the storage served: of the disks below it nothing is known.
fn storage_cache(found: &StepAnalysis) -> Option<Finding> {
    let served = share(found, Counter::StorageCacheReads, Counter::ReadRequests)?;
    let text = "A cache of the storage served reads, so the latencies describe that cache and not the disks below it.";
    let evidence = format!("{} of the read requests came from the storage's flash cache", percent(served.min(1.0)));
    Some(codes::STORAGE_CACHE.finding(text, evidence))
}

/// Updates, commits, waits for the log and bytes of it, each compared with the others where every update commits and waits.
fn commits_unproven(step: &StepRecord, found: &StepAnalysis) -> Option<Finding> {
    let workload = step.head.workload.as_ref()?;
    let waits =
        workload.commit == Commit::Each && workload.commit_wait && workload.compatibility != Compatibility::Slob;
    let work = found.work.as_ref()?;
    let updates = work.kind(OpKind::Update);
    let rates = [Counter::Commits, Counter::CommitWaits].map(|counter| found.counters.rate(counter));
    let ([Some(commits), Some(waited)], true) = (rates, waits && updates.ops >= FEWEST_UPDATES) else { return None };
    let per_s = |count: f64| count / work.seconds;
    let log = found.counters.rate(Counter::LogBytes);
    let thin = log.is_some_and(|bytes| bytes < LEAST_LOG * per_s(updates.blocks));
    if commits >= COMMITTED * per_s(updates.ops) && waited >= WAITED * commits && !thin {
        return None;
    }
    let name = &found.evidence.words.log;
    let text = format!(
        "Updates, commits and waits for the {name} do not match, so commits did not wait until their {name} was stored. \
         Check the server's commit settings."
    );
    let bytes = log.map_or_else(String::new, |log| {
        format!(", {} bytes of {name} a block", format_rounded(log / per_s(updates.blocks)))
    });
    let done = per_s(updates.ops);
    let [done, commits, waited] = [done, commits, waited].map(format_rounded);
    let evidence = format!("{done} updates/s, {commits} commits/s, {waited} waits for the {name}/s{bytes}");
    Some(codes::COMMITS_UNPROVEN.finding(text, evidence))
}

/// Time that readings of the server's clock took from the operations: latencies include it.
fn clock_cost(run: &Run, step: &StepRecord, found: &StepAnalysis) -> Option<Finding> {
    let us = run.description.as_ref()?.clock_cost_us?;
    let server = step.head.workload.as_ref()?.loop_site == LoopSite::Server;
    let work = found.work.as_ref().filter(|work| server && work.ops() >= FEWEST_UPDATES)?;
    let busy_us = f64::from(work.sessions) * work.seconds * 1e6 - work.think_us;
    let share = us * work.ops() / busy_us.max(1.0);
    let text = "The loop in the server reads the clock once for each operation, and latencies include that time. A \
                larger --work-unit makes it smaller.";
    let evidence = format!("{us:.2} us a reading, {} of the sessions' time", percent(share.min(1.0)));
    Some(codes::CLOCK_COST.finding(text, evidence))
}

/// Share of the device below which its caches may hold all that is visited: a drive has about a thousandth of its size
/// as memory, a controller, an array or a hypervisor more.
const SMALL_SPAN: f64 = 0.01;

/// Physical reads from so small a part of the device that a cache may have served them (docs/findings.md, F6). `None`
/// if reads came from higher levels, or sizes are unknown.
pub(super) fn small_span(run: &Run, step: &StepRecord, found: &StepAnalysis) -> Option<Finding> {
    let physical =
        found.reads.as_ref().is_some_and(|of| matches!(of.kind, HeadlineKind::Storage | HeadlineKind::Database));
    let workload = step.head.workload.as_ref()?;
    let active = workload.scale.checked_mul(workload.schemas.into())?.checked_mul(block_bytes(run)?)?;
    let (name, device) = device(&run.environment)?;
    let share = active as f64 / device as f64;
    (physical && share < SMALL_SPAN).then(|| {
        let text = "Operations visited a small part of the device. A cache in the drive, the controller, the array \
                    or the hypervisor may hold all of it. Compare this run with one of ten times the --scale: \
                    without such a cache, both have the same latency.";
        let evidence =
            format!("{} of the {} of {name}, {}", format_bytes(active), format_bytes(device), percent(share));
        codes::SMALL_SPAN.finding(text, evidence)
    })
}

/// The devices below the file system of the data, and the sum of their bytes.
fn device(environment: &Facts) -> Option<(String, u64)> {
    let chain = Fact::StorageDevice.find(environment)?;
    let top = chain.split(" < ").next()?.to_owned();
    let size = |name: &str| DeviceFact::SizeBytes.find(name, environment)?.parse::<u64>().ok();
    let bytes =
        top.split(' ').map(size).try_fold(0, |all: u64, size| all.checked_add(size?)).filter(|bytes| *bytes > 0)?;
    Some((top, bytes))
}

/// Fewest updated blocks for a meaningful mean: the server's own log records are few compared with them.
const FEWEST_BLOCKS: f64 = 2_000.0;

/// Bytes of log per updated block outside of what the engine expects, images of whole blocks included.
pub(super) fn log_band(run: &Run, step: &StepRecord, found: &StepAnalysis) -> Option<Finding> {
    let expected = run.description.as_ref()?.expected_log.as_ref()?;
    let work = found.work.as_ref()?;
    let updated = work.kind(OpKind::Update).blocks;
    let workload = step.head.workload.as_ref()?;
    if updated < FEWEST_BLOCKS || (expected.once_a_transaction && workload.commit != Commit::Each) {
        return None;
    }
    let per_s = updated / work.seconds;
    let [low, high] = match workload.redo {
        Redo::Light => expected.light,
        Redo::Heavy => expected.heavy,
    };
    // Where images are not counted, each block may have had one.
    let images = expected.images.as_ref().map_or(0.0, |images| {
        found.counters.rate_of_named(&images.counter).map_or(1.0, |rate| rate / per_s) * images.bytes
    });
    let (per_block, high) = (found.counters.rate(Counter::LogBytes)? / per_s, high + images);
    (per_block < low || per_block > high).then(|| {
        let log = &found.evidence.words.log;
        let text = format!(
            "The {log} for each updated block differs from the amount that such updates write. Other sessions write {log}, \
             updates leave their block, or updates change nothing. Look for other sessions."
        );
        let [per_block, low, high] = [per_block, low, high].map(format_rounded);
        let evidence = format!("{per_block} bytes per updated block, {low} to {high} expected");
        codes::LOG_BAND.finding(text, evidence)
    })
}
