//! Whether an open loop kept its rate (measurement.md M2).

use std::collections::BTreeMap;

use mindful_core::run::StepRecord;

use crate::figures::window::Window;
use crate::figures::work::Work;

/// Smallest share of the offered operations that must be delivered.
pub const MIN_DELIVERED: f64 = 0.99;
/// Fastest growth of the backlog, as a share of the rate.
pub const MAX_SLOPE: f64 = 0.005;

/// How an open loop went.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Pace {
    /// Operations that were due in the window, per second.
    pub offered_per_s: f64,
    /// Operations that were done in it, per second.
    pub delivered_per_s: f64,
    /// Due and not begun at its start.
    pub backlog_begin: f64,
    /// Due and not begun at its end.
    pub backlog_end: f64,
    /// Growth of the backlog by least squares, operations per second.
    pub slope_per_s: f64,
    /// Sessions.
    pub sessions: f64,
}

impl Pace {
    /// The pace of `step`; `None` in a closed loop.
    pub fn of(step: &StepRecord, window: &Window, work: &Work) -> Option<Self> {
        step.head.workload.rate?;
        let points = backlogs(step, window);
        let begin =
            points.iter().find(|(border, _)| *border == window.first_border).map_or(0.0, |(_, backlog)| *backlog);
        let end = points.last().map_or(begin, |(_, backlog)| *backlog);
        let delivered_per_s = work.ops() / work.seconds;
        let per_slice = work.seconds / f64::from(window.last_border.saturating_sub(window.first_border).max(1));
        Some(Self {
            offered_per_s: delivered_per_s + (end - begin) / work.seconds,
            delivered_per_s,
            backlog_begin: begin,
            backlog_end: end,
            slope_per_s: slope(&points) / per_slice,
            sessions: f64::from(work.sessions),
        })
    }

    /// `delivered / offered >= 0.99`, the backlog grows by at most 0.005 of the rate, and at the end it is at most
    /// twice that of the start and one operation a session.
    pub fn sustained(&self) -> bool {
        self.delivered_per_s >= MIN_DELIVERED * self.offered_per_s
            && self.slope_per_s <= MAX_SLOPE * self.offered_per_s
            && self.backlog_end <= 2.0 * self.backlog_begin + self.sessions
    }
}

/// Backlog of all sessions at each border of the window that all of them reported.
fn backlogs(step: &StepRecord, window: &Window) -> Vec<(u32, f64)> {
    let mut sums: BTreeMap<u32, (usize, u64)> = BTreeMap::new();
    for (_, slice) in &step.slices {
        let sum = sums.entry(slice.index + 1).or_default();
        sum.0 += 1;
        sum.1 += slice.backlog.unwrap_or(0);
    }
    let whole = sums.into_iter().filter(|(_, (sessions, _))| *sessions == step.head.seats.len());
    whole
        .map(|(border, (_, backlog))| (border, backlog as f64))
        .filter(|(border, _)| (window.first_border..=window.last_border).contains(border))
        .collect()
}

/// Slope of the least-squares line through `points`; 0 for fewer than two.
fn slope(points: &[(u32, f64)]) -> f64 {
    let n = points.len() as f64;
    let mean_x = points.iter().map(|(x, _)| f64::from(*x)).sum::<f64>() / n;
    let mean_y = points.iter().map(|(_, y)| y).sum::<f64>() / n;
    let (mut top, mut bottom) = (0.0, 0.0);
    for (x, y) in points {
        top += (f64::from(*x) - mean_x) * (y - mean_y);
        bottom += (f64::from(*x) - mean_x).powi(2);
    }
    if bottom > 0.0 { top / bottom } else { 0.0 }
}
