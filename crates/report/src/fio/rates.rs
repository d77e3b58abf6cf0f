//! How I/Os per second went from slice to slice.

use std::collections::BTreeMap;

use mindful_analyze::figures::window::Window;
use mindful_analyze::stats::moment;
use mindful_core::record::run::StepRecord;
use mindful_core::workload::OpKind;

/// I/Os of `kind` per second in each slice of the window.
pub fn each_second(record: &StepRecord, window: Option<&Window>, kind: OpKind) -> Vec<f64> {
    let Some(window) = window else { return Vec::new() };
    let mut ops: BTreeMap<u32, u64> = BTreeMap::new();
    for report in record.reports().filter(|report| window.share_of(report, record) >= 0.5) {
        let sum = ops.entry(report.index).or_default();
        *sum = sum.saturating_add(report.op(kind).ops);
    }
    let rate = |(index, ops): (u32, u64)| {
        let boundary = |at: u32| record.boundaries_us.get(at as usize).copied();
        let us = boundary(index.checked_add(1)?)?.saturating_sub(boundary(index)?);
        (us > 0).then(|| ops as f64 / (us as f64 / 1e6))
    };
    ops.into_iter().filter_map(rate).collect()
}

/// Their standard deviation; `None` with fewer than two.
pub fn deviation(rates: &[f64]) -> Option<f64> {
    moment::variance(rates).map(f64::sqrt)
}
