//! Blocks of the run's target: their size, and reads in their number.

use mindful_core::contract::metric::Counter;
use mindful_core::record::run::{Run, StepHead, StepRecord};

use super::counters::Counters;
use super::work::Work;

/// Physical reads by blocks visited below which the database's cache did practically all the work.
pub const CACHED_YIELD: f64 = 0.1;
/// Blocks of one read request above which requests are not of single blocks (docs/findings.md, F1: 99 % of them must be).
pub(crate) const SINGLE_BLOCK: f64 = 1.01;
/// Fewest physical reads per second for which a share is reported. Below it, a few stray reads decide the share.
pub(crate) const FEWEST_READS_PER_S: f64 = 10.0;

pub(crate) fn no_layout(run: &Run) -> Option<&str> {
    run.description.as_ref().and_then(|description| description.no_layout.as_deref())
}

/// Bytes of a block of the run's target, where rows are in blocks.
pub fn block_bytes(run: &Run) -> Option<u64> {
    if no_layout(run).is_some() {
        return None;
    }
    let reported = run.dataset.as_ref().map(|d| d.block_bytes).or(run.description.as_ref().map(|d| d.block_bytes));
    reported.filter(|bytes| *bytes > 0)
}

/// Bytes of a block of a step: a sweep can give each step another block size.
pub(crate) fn step_block_bytes(run: &Run, head: &StepHead) -> Option<u64> {
    head.point.block_bytes().or_else(|| block_bytes(run))
}

/// Whether every operation visits its blocks one by one, so no operation is a scan or a large read of a file.
pub(crate) fn one_by_one(step: &StepRecord, work: &Work) -> bool {
    step.head.workload.as_ref().is_none_or(|workload| workload.scan_pct.is_none()) && !work.scanned()
}

/// Whether every physical read fetches one block: no scans, and every statement on the access path of the method.
pub(crate) fn single_block_reads(run: &Run, step: &StepRecord, work: &Work) -> bool {
    let by_index = step.head.workload.as_ref().is_none_or(|workload| workload.access.is_index());
    by_index && one_by_one(step, work) && run.shapes.iter().all(|shape| shape.pure)
}

/// Blocks' worth of bytes that the server's processes fetched from storage per second.
pub(crate) fn process_reads(run: &Run, head: &StepHead, counters: &Counters) -> Option<f64> {
    Some(counters.rate(Counter::ProcessReadBytes)? / step_block_bytes(run, head)? as f64)
}

/// Reads of the run's own sessions, blocks per second, if their processes or threads are counted separately.
pub(crate) struct OwnReads {
    /// Blocks that the database requested for them; `None` if it counts only requests of all sessions.
    pub asked: Option<f64>,
    /// Blocks that they fetched from storage.
    pub fetched: f64,
}

/// Blocks of a step in which sessions read for themselves, one block after another. `None` if some are not visible, or
/// other processes read for them.
pub(crate) fn own_reads(run: &Run, head: &StepHead, counters: &Counters) -> Option<OwnReads> {
    let workload = head.workload.as_ref()?;
    let by_themselves = workload.access.is_index() && workload.scan_pct.is_none();
    let all_seen = counters.last(Counter::SessionProcesses)? >= head.session_count() as f64;
    counters.find(Counter::SessionReadBytes).filter(|read| read.timely() && by_themselves && all_seen)?;
    let of_database = counters.rate(Counter::DatabaseReads);
    let asked = of_database.filter(|rate| *rate >= FEWEST_READS_PER_S);
    let fetched = counters.rate(Counter::SessionReadBytes)? / step_block_bytes(run, head)? as f64;
    (of_database.is_none() || asked.is_some()).then_some(OwnReads { asked, fetched })
}
