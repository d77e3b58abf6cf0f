//! Time in which sessions were inside operations and none ended.

use mindful_core::contract::slice::{LONG_OP_US, LongOp, STALL_US};
use mindful_core::record::run::{Span, StepRecord};
use mindful_core::workload::OpKind;

use crate::figures::counters::Counters;
use crate::figures::seconds::Seconds;
use crate::figures::window::Window;
use crate::figures::work::{KindWork, Work};

/// Multiple of the usual duration from which an operation counts as stalled.
pub(crate) const STALLED: u64 = 10;
/// The percentiles that describe most operations: the first that can be reported and that stalls are not part of.
const MOST: [f64; 3] = [0.99, 0.95, 0.5];
/// Share of the window that times below [`STALL_US`] have to take together before they are stalls.
const SHORT_SHARE: f64 = 0.05;
/// Share of the sessions that stall together: the others may have been between two operations.
const TOGETHER: f64 = 0.75;

/// A time in which sessions stood still, us since the epoch on the engine's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// Begin and end, within the window.
    pub span: Span,
    /// Largest number of sessions at a time.
    pub sessions: usize,
}

impl Stall {
    pub(crate) const fn us(&self) -> i64 {
        self.span.1.saturating_sub(self.span.0)
    }
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Stalls {
    /// At least three quarters of the sessions at once, in order.
    pub together: Vec<Stall>,
    /// `(session, time)` of single sessions, the longest first.
    pub alone: Vec<(u32, Stall)>,
}

impl Stalls {
    pub(crate) fn from_step(step: &StepRecord, window: &Window, work: &Work) -> Self {
        let long: Vec<_> = step.long_ops().collect();
        if long.is_empty() {
            return Self::default();
        }
        let thresholds = OpKind::ALL.map(|kind| {
            let us: Vec<_> = long.iter().filter(|(_, op)| op.kind == kind).map(|(_, op)| op.us).collect();
            Threshold::from_work(work.kind(kind), &us)
        });
        let still: Vec<_> = long
            .iter()
            .filter_map(|(session, op)| {
                let threshold = thresholds[op.kind as usize].filter(|threshold| op.us >= threshold.us)?;
                let alone = threshold.tells_single && op.us >= STALL_US;
                Some((*session, alone, clipped(op, window)?))
            })
            .collect();
        let sessions = step.head.session_count();
        let least = if sessions > 1 { ((sessions as f64 * TOGETHER).ceil() as usize).max(2) } else { 1 };
        let spans: Vec<_> = still.iter().map(|(session, _, span)| (*session, *span)).collect();
        let together = worth_a_word(together(&spans, least), window);
        let apart = still.into_iter().filter(|(_, alone, _)| *alone);
        // Short stalls of all sessions may lie within a long one of a single session.
        let shared_us = |span: Span| together.iter().map(|stall| overlap(stall.span, span).max(0)).sum::<i64>();
        let mut alone: Vec<_> = apart
            .filter(|(_, _, span)| {
                let shared_us = shared_us(*span);
                shared_us == 0 || (span.1 - span.0 - shared_us) as u64 >= STALL_US
            })
            .map(|(session, _, span)| (session, Stall { span, sessions: 1 }))
            .collect();
        alone.sort_by_key(|(session, stall)| (std::cmp::Reverse(stall.us()), *session));
        Self { together, alone }
    }

    /// Time in which at least three quarters of the sessions stood still, us.
    pub(crate) fn us(&self) -> i64 {
        self.together.iter().map(Stall::us).sum()
    }

    pub(crate) fn longest(&self) -> Option<&Stall> {
        self.together.iter().max_by_key(|stall| stall.us())
    }

    /// Blocks per second of the slices of `window` in which no session stalled; `None` without such slices.
    pub(crate) fn blocks_per_s_without(&self, step: &StepRecord, window: &Window) -> Option<f64> {
        let all = self.together.iter().chain(self.alone.iter().map(|(_, stall)| stall));
        let spans: Vec<_> = all.map(|stall| stall.span).collect();
        let slices = step.boundaries_us.windows(2).skip(window.first_boundary as usize);
        let rates = Seconds::from_step(step, window).blocks_per_s;
        // An operation that began before a stall and ended in it counts for its slice, so that slice is affected too.
        let free = slices.zip(&rates).filter(|(slice, _)| !spans.iter().any(|s| overlap(*s, (slice[0], slice[1])) > 0));
        let (blocks, us) = free.fold((0.0, 0.0), |(blocks, us), (slice, rate)| {
            let length = slice[1].saturating_sub(slice[0]) as f64;
            (blocks + rate * length, us + length)
        });
        (us > 0.0).then(|| blocks / us)
    }
}

/// All of `stalls` if one of them, or the short ones together, show that the sessions stood still.
fn worth_a_word(mut stalls: Vec<Stall>, window: &Window) -> Vec<Stall> {
    let is_long = |stall: &Stall| stall.us() as u64 >= STALL_US / 10 * 9;
    let short_us: i64 = stalls.iter().filter(|stall| !is_long(stall)).map(Stall::us).sum();
    if (short_us as f64) < SHORT_SHARE * 1e6 * window.seconds() {
        stalls.retain(is_long);
    }
    stalls
}

/// Changes of counters while sessions stalled: between the boundaries within `span`, or else around it. Also returns
/// whether it is within.
pub(crate) fn meanwhile(step: &StepRecord, window: &Window, span: Span) -> (Counters, bool) {
    let at = |us: i64| step.boundaries_us.partition_point(|boundary| *boundary < us) as u32;
    let within = (at(span.0), at(span.1.saturating_add(1)).saturating_sub(1));
    let is_within = within.0 < within.1;
    let (first, last) = if is_within { within } else { (at(span.0.saturating_add(1)).saturating_sub(1), at(span.1)) };
    let part = Window {
        first_boundary: first.max(window.first_boundary),
        last_boundary: last.min(window.last_boundary),
        ..*window
    };
    (Counters::from_step(step, &part), is_within)
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct Threshold {
    us: u64,
    /// Whether a single operation of this length is significant: beyond the 99th percentile it is.
    tells_single: bool,
}

impl Threshold {
    /// Stalls of a kind with operations of `long_us`; `None` if too few operations are known.
    fn from_work(work: &KindWork, long_us: &[u64]) -> Option<Self> {
        MOST.into_iter().find_map(|share| {
            let most_us = work.service.quantile_ns(share)? / 1_000;
            let us = LONG_OP_US.max(most_us.saturating_mul(STALLED));
            let still = long_us.iter().filter(|took| **took >= us).count();
            // A percentile that contains many stalls does not describe the other operations.
            let beyond = work.service.count() as f64 * (1.0 - share);
            (2.0 * still as f64 <= beyond).then_some(Self { us, tells_single: share >= MOST[0] })
        })
    }
}

fn clipped(op: &LongOp, window: &Window) -> Option<Span> {
    let end_us = op.begin_us.saturating_add(i64::try_from(op.us).unwrap_or(i64::MAX));
    let span = (op.begin_us.max(window.begin_us), end_us.min(window.end_us));
    (span.0 < span.1).then_some(span)
}

fn overlap(one: Span, other: Span) -> i64 {
    one.1.min(other.1).saturating_sub(one.0.max(other.0))
}

/// The times, of [`LONG_OP_US`] less a tenth or longer, in which at least so many sessions stood still at once.
fn together(spans: &[(u32, Span)], least: usize) -> Vec<Stall> {
    let mut turns: Vec<(i64, bool, u32)> = Vec::new();
    for (session, span) in spans {
        turns.push((span.0, true, *session));
        turns.push((span.1, false, *session));
    }
    // At the same instant an end sorts before a beginning: that session completed something.
    turns.sort_unstable();
    let mut inside = std::collections::BTreeMap::<u32, usize>::new();
    let (mut stalls, mut since, mut most) = (Vec::new(), None, 0);
    for (at, begins, session) in turns {
        if begins {
            *inside.entry(session).or_default() += 1;
        } else if let Some(count) = inside.get_mut(&session) {
            *count -= 1;
            if *count == 0 {
                inside.remove(&session);
            }
        }
        most = most.max(inside.len());
        match since {
            None if inside.len() >= least => (since, most) = (Some(at), inside.len()),
            Some(begin) if inside.len() < least => {
                stalls.push(Stall { span: (begin, at), sessions: most });
                (since, most) = (None, 0);
            }
            _ => {}
        }
    }
    stalls.retain(|stall| stall.us() as u64 >= LONG_OP_US / 10 * 9);
    stalls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_that_stall_at_once_are_one_stall() {
        let spans = [(0, (0, 3_000_000)), (1, (100_000, 3_100_000)), (2, (5_000_000, 6_000_000))];
        let found = together(&spans, 2);
        assert_eq!(found, [Stall { span: (100_000, 3_000_000), sessions: 2 }]);
        assert!(together(&spans, 3).is_empty());
    }

    #[test]
    fn operations_one_after_the_other_are_no_stall_together() {
        let spans = [(0, (0, 600_000)), (1, (600_000, 1_200_000)), (0, (1_200_000, 1_800_000))];
        assert!(together(&spans, 2).is_empty());
    }
}
