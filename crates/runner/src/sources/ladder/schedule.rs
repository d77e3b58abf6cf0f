//! The order of steps that are known beforehand.

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
