//! Selects the points of a sweep that fit into a time.

use std::time::Duration;

use super::schedule::Slot;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Budgeted {
    /// Steps that fit, in their order.
    pub keep: Vec<Slot>,
    pub left_out: Vec<Slot>,
    pub takes: Duration,
}

/// Cuts `slots` of the given costs to `budget`: all points once come before any repetition. The ends come first and
/// then the middles, so that the range stays complete.
pub(crate) fn within(budget: Duration, slots: &[Slot], cost: impl Fn(&Slot) -> Duration) -> Budgeted {
    let points = slots.iter().map(|slot| slot.point + 1).max().unwrap_or(0);
    let mut worth = vec![0; points];
    for (at, point) in coarse_to_fine(points).into_iter().enumerate() {
        worth[point] = at;
    }
    let priority = |i: &usize| {
        let slot = &slots[*i];
        // The repetition of the first point is worth more than a second pass.
        let pass = if slot.drift_check { 1 } else { 2 * slot.pass };
        (pass, worth[slot.point], *i)
    };
    let mut order: Vec<usize> = (0..slots.len()).collect();
    order.sort_by_key(priority);
    let mut fits = vec![false; slots.len()];
    let mut takes = Duration::ZERO;
    for i in order {
        let after = takes.saturating_add(cost(&slots[i]));
        if after > budget {
            continue;
        }
        (fits[i], takes) = (true, after);
    }
    let of = |wanted: bool| slots.iter().zip(&fits).filter(|(_, f)| **f == wanted).map(|(slot, _)| *slot).collect();
    Budgeted { keep: of(true), left_out: of(false), takes }
}

/// `0..len` with both ends first, then the middles of the gaps, the widest gaps first.
fn coarse_to_fine(len: usize) -> Vec<usize> {
    let Some(last) = len.checked_sub(1) else { return Vec::new() };
    let mut order = vec![0];
    if last > 0 {
        order.push(last);
    }
    let mut gaps = std::collections::VecDeque::from([(0, last)]);
    while let Some((low, high)) = gaps.pop_front() {
        let middle = usize::midpoint(low, high);
        if middle > low {
            order.push(middle);
            gaps.extend([(low, middle), (middle, high)]);
        }
    }
    order
}
