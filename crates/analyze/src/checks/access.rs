//! Access to blocks: requests of several blocks, reads past the cache, a cache or a filter of the storage, and the cost of
//! the clock.

use mindful_core::contract::metric::Counter;
use mindful_core::record::run::{Run, StepRecord};
use mindful_core::result::finding::codes;
use mindful_core::result::{Finding, Severity};
use mindful_core::workload::LoopSite;

use super::log;
use crate::figures::blocks::{FEWEST_READS_PER_S, SINGLE_BLOCK, one_by_one};
use crate::judgement::headline::percent;
use crate::step::StepAnalysis;

/// Share of the reads above which another way than the method's is reported (docs/findings.md, F1: 99 % of them must take it).
const OTHER_WAY: f64 = 0.01;
const FEWEST_UPDATES: f64 = 100.0;

/// Findings about the access to blocks over the window. A counter that an engine does not report decides nothing.
pub(crate) fn check_window(run: &Run, step: &StepRecord, found: &StepAnalysis) -> Vec<Finding> {
    let all = [
        prefetched(step, found),
        past_cache(step, found),
        filtered(found),
        storage_cache(found),
        log::commits_unproven(step, found),
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
