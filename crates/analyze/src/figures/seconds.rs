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
    /// 99th percentile of the slice over all kinds, us; empty if a slice has too few operations for it.
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
        // A slice is reduced before the next one: a run has many, and a histogram of each would not fit in memory.
        let of_slice = |reports: Vec<&SliceReport>| {
            let work = SlicesWork::from_reports(&reports);
            (work.ops, work.blocks, quantile_us(&work.latency, 0.99))
        };
        let figures: Vec<_> = grouped(step, &slices, 1).into_iter().map(of_slice).collect();
        let lengths: Vec<f64> = slices.clone().map(|slice| length_s(step, slice)).collect();
        let p99: Option<Vec<f64>> = figures.iter().map(|(_, _, p99)| *p99).collect();
        Self {
            ops_per_s: figures.iter().zip(&lengths).map(|((ops, ..), s)| ops / s).collect(),
            blocks_per_s: figures.iter().zip(&lengths).map(|((_, blocks, _), s)| blocks / s).collect(),
            p99_us: p99.unwrap_or_default(),
            hit_ratio: hit_ratios(step, &slices).unwrap_or_default(),
        }
    }
}

/// What all sessions did in some slices.
#[derive(Debug, Default)]
pub(crate) struct SlicesWork {
    pub ops: f64,
    pub blocks: f64,
    /// Of all kinds of operation.
    pub latency: Recorder,
}

impl SlicesWork {
    pub(crate) fn from_reports(reports: &[&SliceReport]) -> Self {
        let mut work = Self::default();
        for op in reports.iter().flat_map(|report| &report.ops) {
            work.ops += op.ops as f64;
            work.blocks += op.blocks as f64;
            work.latency.merge(op.response.as_ref().unwrap_or(&op.latency));
        }
        work
    }
}

/// The reports of each `each` successive slices; the last group may be of fewer slices.
pub(crate) fn grouped<'a>(step: &'a StepRecord, slices: &Range<u32>, each: usize) -> Vec<Vec<&'a SliceReport>> {
    let mut groups = vec![Vec::new(); slices.len().div_ceil(each)];
    for report in step.reports().filter(|report| slices.contains(&report.index)) {
        groups[(report.index - slices.start) as usize / each].push(report);
    }
    groups
}

fn length_s(step: &StepRecord, slice: u32) -> f64 {
    let ends = step.boundary_us(slice.saturating_add(1)).zip(step.boundary_us(slice));
    ends.map_or(1.0, |(end, begin)| end.saturating_sub(begin) as f64 / 1e6)
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
