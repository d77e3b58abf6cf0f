//! A step second by second: one point a slice.

use std::ops::Range;

use mindful_core::contract::metric::Counter;
use mindful_core::contract::slice::SliceReport;
use mindful_core::record::latency::Recorder;
use mindful_core::record::run::{Series, StepRecord};

use crate::figures::latency::quantile_us;
use crate::figures::rates;
use crate::figures::window::Window;

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Seconds {
    pub ops_per_s: Vec<f64>,
    pub blocks_per_s: Vec<f64>,
    /// 99th percentile of the slice over all kinds, us; empty when a slice is too short of operations for it.
    pub p99_us: Vec<f64>,
    /// Share of logical reads that the cache served; empty if not known.
    pub hit_ratio: Vec<f64>,
}

impl Seconds {
    pub fn from_step(step: &StepRecord, window: &Window) -> Self {
        Self::from_slices(step, window.first_boundary..window.last_boundary)
    }

    /// The slices of these indexes, which all sessions have reported.
    pub(crate) fn from_slices(step: &StepRecord, slices: Range<u32>) -> Self {
        let count = slices.len();
        let mut ops = vec![0.0; count];
        let mut blocks = vec![0.0; count];
        let mut reports: Vec<Vec<&SliceReport>> = vec![Vec::new(); count];
        for slice in step.reports().filter(|slice| slices.contains(&slice.index)) {
            let i = (slice.index - slices.start) as usize;
            for op in &slice.ops {
                ops[i] += op.ops as f64;
                blocks[i] += op.blocks as f64;
            }
            reports[i].push(slice);
        }
        let lengths: Vec<f64> = slices.clone().map(|slice| length_s(step, slice)).collect();
        let per_s = |counts: Vec<f64>| counts.iter().zip(&lengths).map(|(count, s)| count / s).collect();
        let p99: Option<Vec<f64>> = reports.iter().map(|slice| p99_us(slice)).collect();
        Self {
            ops_per_s: per_s(ops),
            blocks_per_s: per_s(blocks),
            p99_us: p99.unwrap_or_default(),
            hit_ratio: hit_ratios(step, &slices).unwrap_or_default(),
        }
    }
}

/// The 99th percentile over all sessions and kinds, us; `None` if fewer than ten operations lie beyond it.
fn p99_us(reports: &[&SliceReport]) -> Option<f64> {
    let mut all = Recorder::new();
    for op in reports.iter().flat_map(|report| &report.ops) {
        all.merge(op.response.as_ref().unwrap_or(&op.latency));
    }
    quantile_us(&all, 0.99)
}

fn length_s(step: &StepRecord, slice: u32) -> f64 {
    let boundary = |i: u32| step.boundaries_us.get(i as usize).copied();
    boundary(slice.saturating_add(1))
        .zip(boundary(slice))
        .map_or(1.0, |(end, begin)| end.saturating_sub(begin) as f64 / 1e6)
}

/// The hit ratio of each slice; `None` if a reading is missing.
fn hit_ratios(step: &StepRecord, slices: &Range<u32>) -> Option<Vec<f64>> {
    let place = |counter: Counter| {
        let mut series = step.series.iter().rev();
        series.find_map(|s| Some((s, s.metrics.iter().position(|metric| metric.name == counter)?)))
    };
    let at = |(series, i): (&Series, usize), boundary: u32| {
        series.readings.iter().find(|reading| reading.boundary == boundary)?.values[i]
    };
    let grew = |counter, slice: u32| {
        let place = place(counter)?;
        Some(at(place, slice + 1)? - at(place, slice)?)
    };
    slices.clone().map(|slice| rates::hit_ratio(|counter| grew(counter, slice))).collect()
}
