//! The order in which a load writes keys: a permutation in arithmetic that Oracle's SQL supports.
//!
//! SQL has neither XOR nor words of 64 bits, so this permutation differs from that of the other engines, but is of the
//! same kind: a network of rounds over two halves. Each round adds a scrambled half to the other, modulo the size of
//! that half. It is a bijection for any scrambling; results beyond the last key are omitted. The rounds are written
//! here and in `sql/load/round_*.sql`, and must stay the same.

use mindful_core::workload::draw::{self, Purpose};

/// Rounds; the first changes the left half.
const ROUNDS: usize = 6;
/// Primes below 2^31: the scrambling is a square modulo one, times a number, modulo the other.
const SQUARE: u64 = 2_147_483_647;
const TIMES: u64 = 2_147_483_629;
/// Most blocks for which the correlation of a candidate is checked; longer ones keep the limit by their length.
const LOOKED_AT: u64 = 250_000;

/// One round: the addend of a half before it is squared, and the factor of the square.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Round {
    pub plus: u64,
    /// Multiplied with the square.
    pub times: u64,
}

impl Round {
    fn scrambled(self, half: u64) -> u64 {
        (half + self.plus) * (half + self.plus) % SQUARE * self.times % TIMES
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    pub blocks: u64,
    pub left: u64,
    pub right: u64,
    /// The rounds in order; the even ones change the left half.
    pub rounds: [Round; ROUNDS],
}

impl Layout {
    /// The order of `schema` (from 1) for a dataset seed: the first of a series with a rank correlation within the
    /// limit.
    pub(crate) fn new(blocks: u64, seed: u64, schema: u32, max_correlation: f64) -> Self {
        let base = draw::stream_seed(seed, schema, Purpose::Layout) as u64;
        let candidate = |attempt: u64| Self::candidate(blocks, draw::mix64(base ^ attempt));
        if !(100..=LOOKED_AT).contains(&blocks) {
            return candidate(0);
        }
        (0..256).map(candidate).find(|it| it.rank_correlation().abs() < max_correlation).unwrap_or_else(|| candidate(0))
    }

    fn candidate(blocks: u64, seed: u64) -> Self {
        let left = (blocks.max(1) as f64).sqrt().ceil() as u64;
        let right = blocks.max(1).div_ceil(left);
        let rounds = std::array::from_fn(|round| {
            let word = draw::mix64(seed ^ (round as u64) << 56);
            // Halves stay below 2^24, sums below 2^31 and squares below 2^62.
            Round { plus: 1 + word % 1_000_000_007, times: 1 + (word >> 32) % 1_000_000_006 }
        });
        Self { blocks, left, right, rounds }
    }

    /// All keys, from 1, in the order in which they are written.
    pub(crate) fn keys(&self) -> impl Iterator<Item = u64> + '_ {
        let places = (0..self.left).flat_map(move |l| (0..self.right).map(move |r| (l, r)));
        places.map(|(l, r)| self.key(l, r)).filter(|key| *key <= self.blocks)
    }

    fn key(&self, mut l: u64, mut r: u64) -> u64 {
        for (at, round) in self.rounds.iter().enumerate() {
            if at % 2 == 0 {
                l = (l + round.scrambled(r)) % self.left;
            } else {
                r = (r + round.scrambled(l)) % self.right;
            }
        }
        l * self.right + r + 1
    }

    pub(crate) fn rank_correlation(&self) -> f64 {
        correlation(self.keys().enumerate().map(|(place, key)| (place as f64, (key - 1) as f64)), self.blocks)
    }
}

fn correlation(pairs: impl Iterator<Item = (f64, f64)>, count: u64) -> f64 {
    let n = count as f64;
    let squares: f64 = pairs.map(|(a, b)| (a - b).powi(2)).sum();
    1.0 - 6.0 * squares / (n * (n * n - 1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Spearman's rank correlation of the places of the same key in two orders.
    fn correlation_of(one: &Layout, other: &Layout) -> f64 {
        let mut places = vec![0_u64; one.blocks as usize + 1];
        for (place, key) in (0..).zip(other.keys()) {
            places[key as usize] = place;
        }
        let pairs = one.keys().enumerate().map(|(place, key)| (place as f64, places[key as usize] as f64));
        correlation(pairs, one.blocks)
    }

    #[test]
    fn each_key_is_written_once_whatever_the_length() {
        for blocks in [1, 2, 3, 7, 99, 100, 101, 500, 9_999, 10_000, 10_001] {
            let mut keys: Vec<u64> = Layout::new(blocks, 7, 1, 0.02).keys().collect();
            keys.sort_unstable();
            assert!(keys.into_iter().eq(1..=blocks), "{blocks} blocks");
        }
    }

    #[test]
    fn places_do_not_depend_on_keys_or_on_another_schema() {
        for blocks in [500_u64, 10_000, 300_000] {
            let (one, other) = (Layout::new(blocks, 7, 1, 0.02), Layout::new(blocks, 7, 2, 0.02));
            assert!(one.rank_correlation().abs() < 0.02, "{blocks}: {}", one.rank_correlation());
            let limit = (5.0 / (blocks as f64 - 1.0).sqrt()).max(0.02);
            assert!(correlation_of(&one, &other).abs() < limit, "{blocks}: {}", correlation_of(&one, &other));
        }
    }

    #[test]
    fn neighbouring_keys_lie_apart_by_no_pattern() {
        let layout = Layout::new(100_000, 3, 1, 0.02);
        let mut places = vec![0_i64; 100_001];
        for (place, key) in (0..).zip(layout.keys()) {
            places[key as usize] = place;
        }
        let steps: Vec<i64> = places[1..].windows(2).map(|pair| pair[1] - pair[0]).collect();
        let near = steps.iter().filter(|step| step.abs() < 32).count();
        // 64 in 100,000 by chance, each step rarely twice.
        assert!(near < 200, "{near} neighbours lie near each other");
        let again = steps.windows(2).filter(|pair| pair[0] == pair[1]).count();
        assert!(again < 50, "{again} steps are the step before");
    }

    #[test]
    fn the_order_never_changes() {
        let layout = Layout::new(1_000, 1, 1, 0.02);
        assert_eq!(layout.keys().take(6).collect::<Vec<_>>(), [829, 378, 633, 726, 852, 686]);
    }
}
