//! The measured window of a step: where every session was at work.

use mindful_core::contract::slice::SliceReport;
use mindful_core::record::run::{Span, StepRecord};

use crate::figures::circumstances;

/// Distance of a boundary of slices from the window, as a share of it, up to which it counts as the window's end.
/// Counters are read at boundaries; sessions begin and stop some milliseconds before or after them.
pub(crate) const BORDER_TOLERANCE: f64 = 0.01;

/// A span of time on the engine's clock in which all sessions worked.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Window {
    pub begin_us: i64,
    pub end_us: i64,
    /// The boundary of slices at which its counters begin.
    pub first_boundary: u32,
    pub last_boundary: u32,
    /// Latest minus earliest start of a session, us.
    pub start_skew_us: i64,
}

impl Window {
    pub fn seconds(&self) -> f64 {
        self.end_us.saturating_sub(self.begin_us) as f64 / 1e6
    }

    /// Whether a slice that ends at `boundary` lies in the window.
    pub(crate) fn has_end(&self, boundary: u32) -> bool {
        (self.first_boundary + 1..=self.last_boundary).contains(&boundary)
    }

    /// Whether counters that were read at `boundary` are of the window.
    pub(crate) fn has_boundary(&self, boundary: u32) -> bool {
        (self.first_boundary..=self.last_boundary).contains(&boundary)
    }

    /// The share of a slice that lies in the window, 0 to 1.
    ///
    /// An operation belongs to the slice it began in, so a slice counts as ending at its boundary even when its last
    /// operation ended later.
    pub fn share_of(&self, slice: &SliceReport, step: &StepRecord) -> f64 {
        if slice.index < step.head.warmup_slices {
            return 0.0;
        }
        let boundary = step.boundary_us(slice.index.saturating_add(1)).unwrap_or(i64::MAX);
        let (begin, end) = (slice.begin_us, slice.end_us.min(boundary));
        if end <= begin {
            return if (self.begin_us..self.end_us).contains(&begin) { 1.0 } else { 0.0 };
        }
        let inside = end.min(self.end_us).saturating_sub(begin.max(self.begin_us));
        inside.max(0) as f64 / end.saturating_sub(begin) as f64
    }
}

/// The window of `step`. It begins at the first measured boundary or the last start of a session, whichever is later.
/// It ends at the last boundary or the first stop of a session, whichever is earlier. `None` if no time is left. The
/// boundaries were chosen by the data, or are the end of the warm-up and of the step.
pub fn window(step: &StepRecord) -> Option<Window> {
    if step.head.workload.is_none() {
        return as_asked(step);
    }
    let spans = spans(step)?;
    let first_start = spans.iter().map(|(begin, _)| *begin).min()?;
    let last_start = spans.iter().map(|(begin, _)| *begin).max()?;
    let first_stop = spans.iter().map(|(_, end)| *end).min()?;
    let (first, last) = requested(step);
    let (first, last) = circumstances::unchanged(step, first, last)?;
    let begin_us = last_start.max(step.boundary_us(first)?);
    let end_us = first_stop.min(step.boundary_us(last)?);
    if end_us <= begin_us {
        return None;
    }
    let slack = (end_us.saturating_sub(begin_us) as f64 * BORDER_TOLERANCE) as i64;
    let first_boundary =
        (step.boundaries_us.partition_point(|us| *us < begin_us.saturating_sub(slack)) as u32).max(first);
    let last_boundary =
        (step.boundaries_us.partition_point(|us| *us <= end_us.saturating_add(slack)) as u32).saturating_sub(1);
    Some(Window {
        begin_us,
        end_us,
        first_boundary,
        // A window between two boundaries has work, but no two readings of a counter.
        last_boundary: last_boundary.max(first_boundary),
        start_skew_us: last_start - first_start,
    })
}

/// The first and the last boundary of the window, as requested or chosen by the data.
pub(crate) fn requested(step: &StepRecord) -> (u32, u32) {
    let whole = (step.head.warmup_slices, (step.boundaries_us.len() as u32).saturating_sub(1));
    step.window.unwrap_or(whole)
}

/// The requested window, if another tool measured: its sessions were not observed.
fn as_asked(step: &StepRecord) -> Option<Window> {
    let (begin_us, end_us) = (*step.boundaries_us.first()?, *step.boundaries_us.last()?);
    let last_boundary = step.boundaries_us.len() as u32 - 1;
    (begin_us < end_us).then_some(Window { begin_us, end_us, first_boundary: 0, last_boundary, start_skew_us: 0 })
}

/// Begin of the first and end of the last slice of each session, us since the epoch. `None` if a session never
/// reported.
pub(crate) fn spans(step: &StepRecord) -> Option<Vec<Span>> {
    step.spans().into_iter().collect()
}
