//! A window in columns of equal length, with work and counters of each.

use std::ops::Range;

use mindful_core::contract::metric::Counter;
use mindful_core::contract::slice::SliceReport;
use mindful_core::record::latency::Recorder;
use mindful_core::record::run::StepRecord;
use mindful_core::workload::OpKind;

use crate::figures::counters::Counters;
use crate::figures::latency::quantile_us;
use crate::figures::log;
use crate::figures::seconds::{SlicesWork, grouped};
use crate::figures::shares::Shares;
use crate::figures::window::Window;

#[derive(Debug, Default)]
pub struct Column {
    /// Begin and end, s since the first column began.
    pub span_s: [f64; 2],
    pub ops_per_s: f64,
    /// Blocks visited per second; `None` if work is not reported.
    pub blocks_per_s: Option<f64>,
    /// Median over all kinds, us.
    pub p50_us: Option<f64>,
    /// 99th percentile over all kinds, us; `None` if fewer than ten operations lie beyond it.
    pub p99_us: Option<f64>,
    /// Updates per second, and their median and 99th percentile, us; `None` without updates.
    pub updates_per_s: Option<f64>,
    pub update_p50_us: Option<f64>,
    pub update_p99_us: Option<f64>,
    /// Median and 99th percentile of flushes that were timed at the device of the log, us.
    pub flush_p50_us: Option<f64>,
    pub flush_p99_us: Option<f64>,
    /// Average number of sessions inside operations; `None` if unknown.
    pub busy_sessions: Option<f64>,
    pub shares: Shares,
    pub counters: Counters,
}

/// At most `most` columns of `window`, each of as many slices but the last.
pub fn columns(step: &StepRecord, window: &Window, most: usize) -> Vec<Column> {
    let slices = window.first_boundary..window.last_boundary.min(step.boundaries_us.len().saturating_sub(1) as u32);
    if slices.is_empty() {
        return Vec::new();
    }
    let each = slices.len().div_ceil(most.max(1));
    let begins = slices.clone().step_by(each);
    begins
        .zip(grouped(step, &slices, each))
        .map(|(first, reports)| column(step, window, first..(first + each as u32).min(slices.end), &reports))
        .collect()
}

fn column(step: &StepRecord, window: &Window, slices: Range<u32>, reports: &[&SliceReport]) -> Column {
    let us = |boundary: u32| step.boundary_us(boundary).unwrap_or(window.end_us);
    let (begin_us, end_us) = (us(slices.start), us(slices.end));
    let part = Window { begin_us, end_us, first_boundary: slices.start, last_boundary: slices.end, ..*window };
    let seconds = part.seconds().max(1e-6);
    let since = |at: i64| at.saturating_sub(us(window.first_boundary)) as f64 / 1e6;
    let counters = Counters::from_step(step, &part);
    let counted = counters.rate(Counter::BusyTimeUs).map(|us| us / 1e6);
    let work = SlicesWork::from_reports(reports);
    let clocked = work.latency.mean_ns().map(|ns| ns * work.latency.count() as f64 / 1e9 / seconds);
    let flushes = log::flushes(&step.latencies, &part, &counters);
    let updates = updates(reports);
    Column {
        updates_per_s: Some(updates.count() as f64 / seconds).filter(|rate| *rate > 0.0),
        update_p50_us: quantile_us(&updates, 0.5),
        update_p99_us: quantile_us(&updates, 0.99),
        flush_p50_us: quantile_us(&flushes, 0.5),
        flush_p99_us: quantile_us(&flushes, 0.99),
        span_s: [since(begin_us), since(end_us)],
        ops_per_s: work.ops / seconds,
        blocks_per_s: (!reports.is_empty()).then_some(work.blocks / seconds),
        p50_us: quantile_us(&work.latency, 0.5),
        p99_us: quantile_us(&work.latency, 0.99),
        busy_sessions: counted.or(clocked),
        shares: Shares::from_work(None, &counters),
        counters,
    }
}

/// The latencies of the updates.
fn updates(reports: &[&SliceReport]) -> Recorder {
    let mut all = Recorder::default();
    for update in reports.iter().map(|report| report.op(OpKind::Update)) {
        all.merge(update.response.as_ref().unwrap_or(&update.latency));
    }
    all
}
