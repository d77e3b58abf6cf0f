//! A small seeded generator: SplitMix64 (Steele, Lea, Flood 2014), for resampling and simulation.

use mindful_core::workload::draw::mix64;

/// The step of SplitMix64: 2^64 by the golden ratio, odd.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Draws the same numbers from the same seed, on every machine.
#[derive(Debug, Clone)]
pub struct Random {
    state: u64,
}

impl Random {
    /// The stream of `seed`. Streams of different `purpose` are not correlated.
    pub fn new(seed: u64, purpose: &str) -> Self {
        let state = purpose.bytes().fold(mix64(seed), |state, byte| mix64(state ^ u64::from(byte)));
        Self { state }
    }

    pub(crate) fn bits(&mut self) -> u64 {
        let word = mix64(self.state);
        self.state = self.state.wrapping_add(STEP);
        word
    }

    /// Uniform in [0, 1).
    pub(crate) fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Uniform in `0..len`; 0 for an empty range. The bias of the multiplication is below `len / 2^64`.
    pub(crate) fn below(&mut self, len: usize) -> usize {
        ((u128::from(self.bits()) * len as u128) >> 64) as usize
    }

    /// Standard normal, by Box and Muller (1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }

    /// Brings `items` into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last + 1));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_draws_have_mean_zero_and_deviation_one() {
        let mut random = Random::new(7, "test");
        let draws: Vec<f64> = (0..20_000).map(|_| random.normal()).collect();
        let mean = draws.iter().sum::<f64>() / 20_000.0;
        let square = draws.iter().map(|v| v * v).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (square - 1.0).abs() < 0.04, "{mean} {square}");
    }

    #[test]
    fn a_shuffle_is_fair_and_repeatable() {
        let mut first = [0_u32; 4];
        for seed in 0..4_000 {
            let mut items = [0, 1, 2, 3];
            Random::new(seed, "shuffle").shuffle(&mut items);
            let mut again = [0, 1, 2, 3];
            Random::new(seed, "shuffle").shuffle(&mut again);
            assert_eq!(items, again);
            first[items[0]] += 1;
        }
        assert!(first.iter().all(|count| (880..1120).contains(count)), "{first:?}");
    }
}
