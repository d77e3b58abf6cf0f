//! Waits that the database counted by duration.

use mindful_core::record::latency::{Recorder, SampledLatencies, WAIT_HISTOGRAM, wait_kind};
use mindful_core::result::WaitSummary;

use crate::figures::latency::quantile_us;
use crate::figures::window::Window;

pub(crate) fn waits(timed: &[(String, u32, SampledLatencies)], window: &Window) -> WaitSummary {
    let inside = |boundary: u32| (window.first_boundary + 1..=window.last_boundary).contains(&boundary);
    let counted: Vec<_> =
        timed.iter().filter(|(source, boundary, _)| source == WAIT_HISTOGRAM && inside(*boundary)).collect();
    let of = |kind: &str| {
        let mut merged = Recorder::new();
        counted.iter().filter_map(|(.., sampled)| sampled.kinds.get(kind)).for_each(|latency| merged.merge(latency));
        merged
    };
    let known = |kind: &str| counted.iter().any(|(.., sampled)| sampled.kinds.contains_key(kind));
    let (reads, log, syncs) = (of(wait_kind::READ), of(wait_kind::LOG_WRITE), of(wait_kind::LOG_SYNC));
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
