//! Latencies of a window in figures: of operations, of single requests at the device, and of counted waits.

use mindful_core::contract::metric::{Counter, HostSource};
use mindful_core::record::latency::{DeviceRequest, Recorder, SampledLatencies, WAIT_HISTOGRAM, wait_kind};
use mindful_core::result::{DeviceSummary, OpSummary, OpsSummary, WaitSummary};
use mindful_core::workload::OpKind;

use crate::figures::counters::Counters;
use crate::figures::window::Window;
use crate::figures::work::{KindWork, Work};

/// Figures of all kinds of operation; a kind that did not run has none.
///
/// If an open loop did not keep its rate, latencies grow with the length of the run. Then only the mean and the longest
/// are kept.
pub(crate) fn ops(work: &Work, sustained: bool) -> OpsSummary {
    let of = |kind| {
        let op = op(work.kind(kind), work.seconds)?;
        Some(if sustained { op } else { OpSummary { p50_us: None, p95_us: None, p99_us: None, p999_us: None, ..op } })
    };
    OpsSummary { select: of(OpKind::Select), update: of(OpKind::Update), scan: of(OpKind::Scan) }
}

/// Figures of one kind. In an open loop the latencies are response times, from the due time of the operation: the wait
/// of a client.
fn op(work: &KindWork, seconds: f64) -> Option<OpSummary> {
    if work.ops <= 0.0 {
        return None;
    }
    let latency = work.response.as_ref().unwrap_or(&work.service);
    Some(OpSummary {
        count: work.ops.round() as u64,
        per_s: work.ops / seconds,
        mean_us: latency.mean_ns().map(|ns| ns / 1e3),
        deviation_us: latency.deviation_ns().map(|ns| ns / 1e3),
        p50_us: quantile_us(latency, 0.5),
        p95_us: quantile_us(latency, 0.95),
        p99_us: quantile_us(latency, 0.99),
        p999_us: quantile_us(latency, 0.999),
        max_us: (latency.count() > 0).then(|| latency.max_ns() as f64 / 1e3),
    })
}

/// What `source` timed in the slices of `window`.
pub(crate) fn timed_by<'a>(
    source: &str,
    timed: &'a [(String, u32, SampledLatencies)],
    window: &Window,
) -> Vec<&'a SampledLatencies> {
    let of = timed.iter().filter(|(from, boundary, _)| from == source && window.has_end(*boundary));
    of.map(|(.., sampled)| sampled).collect()
}

/// All latencies of one kind.
pub(crate) fn merged<'a>(timed: impl IntoIterator<Item = &'a SampledLatencies>, kind: &str) -> Recorder {
    let mut merged = Recorder::new();
    timed.into_iter().filter_map(|sampled| sampled.kinds.get(kind)).for_each(|latency| merged.merge(latency));
    merged
}

/// A quantile in us; `None` if fewer than ten operations lie beyond it.
pub(crate) fn quantile_us(latency: &Recorder, quantile: f64) -> Option<f64> {
    latency.quantile_ns(quantile).map(|ns| ns as f64 / 1e3)
}

/// Multiple of the median from which an operation is slow.
pub const SLOW: u64 = 8;

/// The operations that took much longer than most.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slow {
    /// Lower limit of their duration: [`SLOW`] times the median, us.
    pub above_us: f64,
    pub ops: u64,
    pub ops_share: f64,
    pub time_share: f64,
}

impl Slow {
    /// The slow operations of a kind; `None` without a median.
    pub fn from_work(work: &KindWork) -> Option<Self> {
        let latency = work.response.as_ref().unwrap_or(&work.service);
        let above_ns = SLOW * latency.quantile_ns(0.5)?;
        let (ops, ns) = latency.beyond(above_ns);
        Some(Self {
            above_us: above_ns as f64 / 1e3,
            ops,
            ops_share: ops as f64 / latency.count() as f64,
            time_share: (ns as f64 / (latency.mean_ns()? * latency.count() as f64)).min(1.0),
        })
    }
}

/// Share of events that may be lost: the lost ones may be slower than the others.
pub(crate) const MOST_LOST: f64 = 0.01;

/// The latencies `timed` over `window`, as sources reported them at each boundary. If the sampled share changed during
/// the work, some seconds would weigh more than others: then only seconds of the smallest share are used.
pub(crate) fn device(timed: &[(String, u32, SampledLatencies)], window: &Window, counters: &Counters) -> DeviceSummary {
    let timed = timed_by(HostSource::BlockTrace.name(), timed, window);
    let Some(one_of) = timed.iter().map(|sampled| sampled.one_of).max() else { return DeviceSummary::default() };
    if lost_share(counters).is_none_or(|share| share > MOST_LOST) {
        return DeviceSummary::default();
    }
    let same_share = timed.into_iter().filter(|sampled| sampled.one_of == one_of);
    let [reads, writes] =
        [DeviceRequest::Read, DeviceRequest::Write].map(|request| merged(same_share.clone(), request.name()));
    DeviceSummary {
        one_of: Some(one_of),
        reads_timed: Some(reads.count()),
        read_p50_us: quantile_us(&reads, 0.5),
        read_p99_us: quantile_us(&reads, 0.99),
        writes_timed: Some(writes.count()),
        write_p50_us: quantile_us(&writes, 0.5),
        write_p99_us: quantile_us(&writes, 0.99),
    }
}

/// Lost events by all events; `None` if not counted.
pub fn lost_share(counters: &Counters) -> Option<f64> {
    let (lost, read) = (counters.growth(Counter::TraceLost)?, counters.growth(Counter::TraceEvents)?);
    Some(if lost > 0.0 { lost / (lost + read) } else { 0.0 })
}

/// Waits that the database counted by duration.
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
