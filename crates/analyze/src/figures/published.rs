//! Counters that sessions publish when their slices end, assigned to the window of these slices.
//!
//! An operation may be a good part of a slice. Then a reading after a boundary lacks some work that began before it and
//! contains some that began after it. The number of blocks published by then is known, and so is the growth of a
//! counter per block, and the blocks of the window.

use mindful_core::record::run::{Reading, Series, StepRecord};

use crate::figures::window::Window;

/// Up to this share of the window's blocks, counters are used without correction.
const CLOSE: f64 = 0.01;

/// How counters that were read while sessions published are assigned to a window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Assignment {
    /// Blocks of the window by blocks published between the readings.
    pub factor: f64,
    /// Possible error of figures, as a share of them: blocks that may or may not be in a reading, and half of the
    /// correction.
    pub unsure: f64,
}

/// The known readings nearest to the ends of the window, and their assignment; `None` if they need no correction.
pub(crate) fn assigned<'a>(
    series: &'a Series,
    step: &StepRecord,
    window: &Window,
) -> Option<(&'a Reading, &'a Reading, Assignment)> {
    let known = || series.readings.iter().filter(|reading| reading.values.iter().any(Option::is_some));
    let nearest = |boundary: u32| known().min_by_key(|reading| reading.boundary.abs_diff(boundary));
    let (first, last) = (nearest(window.first_boundary)?, nearest(window.last_boundary)?);
    let (before, after) = (published(first, series, step), published(last, series, step));
    let between = mean(after) - mean(before);
    let index = window.first_boundary..window.last_boundary;
    let reports = step.reports().filter(|report| index.contains(&report.index));
    let blocks = reports.fold(0_u64, |all, report| all.saturating_add(report.blocks())) as f64;
    if between <= 0.0 || blocks <= 0.0 {
        return None;
    }
    let factor = blocks / between;
    let open = ((after.1 - after.0) + (before.1 - before.0)) as f64 / 2.0 / between;
    let exact = (factor - 1.0).abs() <= CLOSE && (first.boundary, last.boundary) == (index.start, index.end);
    (!exact).then_some((first, last, Assignment { factor, unsure: open + (factor - 1.0).abs() / 2.0 }))
}

/// Blocks published by the time of `reading`, at least and at most. The last one of a step is read when all is.
fn published(reading: &Reading, series: &Series, step: &StepRecord) -> (u64, u64) {
    let last = series.readings.last().is_some_and(|last| last.boundary == reading.boundary);
    if last && step.finished() {
        return (step.published.total(), step.published.total());
    }
    let begin_us = reading.at_us.saturating_add(step.clock_offset_us);
    step.published.blocks_between(begin_us, begin_us.saturating_add_unsigned(reading.cost_us))
}

fn mean((least, most): (u64, u64)) -> f64 {
    f64::midpoint(least as f64, most as f64)
}
