//! The order of steps that are known beforehand, and those of them that fit into a time.

use std::time::Duration;

use mindful_analyze::stats::random::Random;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Slot {
    pub point: usize,
    /// Which repetition of it, from 0.
    pub pass: u32,
    /// Whether it repeats the first point at the end to expose drift.
    pub drift_check: bool,
}

/// `passes` passes over `points` points, each in a separate order drawn from the seed, so that drift affects all points
/// equally; then point `drift_check` once more.
pub(crate) fn schedule(points: usize, passes: u32, drift_check: Option<usize>, seed: u64) -> Vec<Slot> {
    let mut random = Random::new(seed, "order of steps");
    let mut slots = Vec::new();
    for pass in 0..passes {
        let mut order: Vec<usize> = (0..points).collect();
        random.shuffle(&mut order);
        slots.extend(order.into_iter().map(|point| Slot { point, pass, drift_check: false }));
    }
    let last = drift_check.filter(|point| *point < points && passes > 0);
    slots.extend(last.map(|point| Slot { point, pass: passes, drift_check: true }));
    slots
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Budgeted {
    /// Steps that fit, in their order.
    pub keep: Vec<Slot>,
    pub left_out: Vec<Slot>,
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
    Budgeted { keep: of(true), left_out: of(false) }
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
