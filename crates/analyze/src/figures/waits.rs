//! Waits that the database counted by duration.

use mindful_core::record::latency::{SampledLatencies, WAIT_HISTOGRAM, wait_kind};
use mindful_core::result::WaitSummary;

use crate::figures::latency::{merged, quantile_us, timed_by};
use crate::figures::window::Window;

pub(crate) fn waits(timed: &[(String, u32, SampledLatencies)], window: &Window) -> WaitSummary {
    let counted = timed_by(WAIT_HISTOGRAM, timed, window);
    let known = |kind: &str| counted.iter().any(|sampled| sampled.kinds.contains_key(kind));
    let [reads, log, syncs] =
        [wait_kind::READ, wait_kind::LOG_WRITE, wait_kind::LOG_SYNC].map(|kind| merged(counted.iter().copied(), kind));
    WaitSummary {
        reads: known(wait_kind::READ).then(|| reads.count()),
        read_p50_us: quantile_us(&reads, 0.5),
        read_p95_us: quantile_us(&reads, 0.95),
        read_p99_us: quantile_us(&reads, 0.99),
        log_writes: known(wait_kind::LOG_WRITE).then(|| log.count()),
        log_write_p50_us: quantile_us(&log, 0.5),
        log_write_p99_us: quantile_us(&log, 0.99),
        log_syncs: known(wait_kind::LOG_SYNC).then(|| syncs.count()),
        log_sync_p50_us: quantile_us(&syncs, 0.5),
        log_sync_p99_us: quantile_us(&syncs, 0.99),
    }
}
