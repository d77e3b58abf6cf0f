//! Blocks of the run's target: their size, and reads in their number.

use mindful_core::metric::shared;
use mindful_core::run::{Run, StepRecord};

use super::counters::Counters;

/// Fewest physical reads per second of which a share is told: below it a handful of stray reads decides.
pub const FEWEST_READS_PER_S: f64 = 10.0;

/// Bytes of a block of the run's target.
pub fn block_bytes(run: &Run) -> Option<u64> {
    let told = run.dataset.as_ref().map(|d| d.block_bytes).or(run.description.as_ref().map(|d| d.block_bytes));
    told.filter(|bytes| *bytes > 0)
}

/// Whether every physical read fetches one block: no scans, and every statement on the access path of the method.
pub fn single_block_reads(run: &Run, step: &StepRecord) -> bool {
    step.head.workload.scan_pct.is_none() && run.shapes.iter().all(|shape| shape.pure)
}

/// Blocks' worth of bytes that the server's processes fetched from storage per second.
pub fn process_reads(run: &Run, counters: &Counters) -> Option<f64> {
    Some(counters.rate(shared::PROCESS_READ_BYTES)? / block_bytes(run)? as f64)
}
