//! Adds the counters of several targets.

use crate::contract::metric::MetricKind;
use crate::ranks::rank_merge::add_counters;
use crate::record::run::{Series, StepRecord};

/// Sums the counters that all `targets` report, from the sources that `adds_up` accepts. A counter that one target does
/// not report is unknown for all.
pub fn sum_counters(targets: &[&StepRecord], adds_up: impl Fn(&str) -> bool) -> Vec<Series> {
    let Some((first, others)) = targets.split_first() else { return Vec::new() };
    let sum = |series: &Series| {
        let mut all = counters(series)?;
        for other in others {
            let theirs = other.series.iter().find(|theirs| theirs.source == series.source)?;
            add_counters(&mut all, theirs);
        }
        Some(all)
    };
    first.series.iter().filter(|series| adds_up(&series.source)).filter_map(sum).collect()
}

/// The counters of `series`; `None` without counters. Gauges cannot be summed.
fn counters(series: &Series) -> Option<Series> {
    let counts = |at: &usize| series.metrics.get(*at).is_some_and(|metric| metric.kind == MetricKind::Counter);
    let kept: Vec<usize> = (0..series.metrics.len()).filter(counts).collect();
    let mut all = series.clone();
    all.metrics = kept.iter().filter_map(|at| series.metrics.get(*at).cloned()).collect();
    for reading in &mut all.readings {
        reading.values = kept.iter().map(|at| reading.values.get(*at).copied().flatten()).collect();
    }
    (!kept.is_empty()).then_some(all)
}
