//! Whether an open loop kept its rate (docs/method.md, Open loop).

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use mindful_core::record::run::StepRecord;

use crate::figures::window::Window;
use crate::figures::work::Work;
use crate::stats::moment::slope;

/// Smallest share of the offered operations that must be delivered.
pub(crate) const MIN_DELIVERED: f64 = 0.99;
/// Fastest growth of the backlog, as a share of the rate.
pub(crate) const MAX_SLOPE: f64 = 0.005;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Operations that were due in the window, per second.
    pub offered_per_s: f64,
    pub delivered_per_s: f64,
    /// Due and not begun at its start.
    pub backlog_begin: f64,
    /// Due and not begun at its end.
    pub backlog_end: f64,
    /// Growth of the backlog by least squares, operations per second.
    pub slope_per_s: f64,
    pub sessions: f64,
    pub seconds: f64,
}

impl Pace {
    pub(crate) fn from_step(step: &StepRecord, window: &Window, work: &Work) -> Option<Self> {
        step.head.workload.as_ref()?.rate?;
        // A window that began late within its only slice has queued up since the boundary before it.
        let first_boundary = window.first_boundary.min(window.last_boundary.saturating_sub(1));
        let points = backlogs(step, first_boundary..=window.last_boundary);
        let begin =
            points.iter().find(|(boundary, _)| *boundary == first_boundary).map_or(0.0, |(_, backlog)| *backlog);
        let end = points.last().map_or(begin, |(_, backlog)| *backlog);
        let delivered_per_s = work.ops() / work.seconds;
        let per_slice = work.seconds / f64::from((window.last_boundary - first_boundary).max(1));
        Some(Self {
            offered_per_s: delivered_per_s + (end - begin) / work.seconds,
            delivered_per_s,
            backlog_begin: begin,
            backlog_end: end,
            slope_per_s: slope(points.iter().map(|(boundary, backlog)| (f64::from(*boundary), *backlog))) / per_slice,
            sessions: f64::from(work.sessions),
            seconds: work.seconds,
        })
    }

    /// Requires `delivered / offered >= 0.99` and growth of the backlog by at most 0.005 of the rate. At the end the
    /// backlog may be twice that of the start plus one operation a session.
    ///
    /// One operation a session over the window counts neither as lost nor as growth. That many may be due at a
    /// boundary, and in a window of a hundred operations one is already a hundredth.
    pub fn sustained(&self) -> bool {
        let due = self.offered_per_s * self.seconds;
        self.backlog_end - self.backlog_begin <= self.sessions.max((1.0 - MIN_DELIVERED) * due)
            && self.slope_per_s * self.seconds <= self.sessions.max(MAX_SLOPE * due)
            && self.backlog_end <= 2.0 * self.backlog_begin + self.sessions
    }
}

/// Backlog of all sessions at each of `boundaries` that all of them reported.
fn backlogs(step: &StepRecord, boundaries: RangeInclusive<u32>) -> Vec<(u32, f64)> {
    let mut sums: BTreeMap<u32, (usize, u64)> = BTreeMap::new();
    let merged = step.merged.slices.iter().map(|merged| (merged.reports, &merged.report));
    for (sessions, slice) in merged.chain(step.unmerged.iter().map(|(_, slice)| (1, slice))) {
        let sum = sums.entry(slice.index + 1).or_default();
        sum.0 += sessions;
        sum.1 += slice.backlog.unwrap_or(0);
    }
    let whole = sums.into_iter().filter(|(_, (sessions, _))| *sessions == step.head.placements.len());
    whole
        .map(|(boundary, (_, backlog))| (boundary, backlog as f64))
        .filter(|(boundary, _)| boundaries.contains(boundary))
        .collect()
}
