//! Counter-based draws: operation `i` of a session draws the same numbers in the database and in the client, whatever
//! ran before it.
//!
//! The base is PostgreSQL's `hashint8extended`, because SQL has it built in and hash partitioning keeps it stable
//! forever. This implementation follows the published description of the lookup3 mixing function (Bob Jenkins, public
//! domain).

/// Purpose of a draw. Each has a separate stream, so decisions are not correlated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    Key,
    UpdatePhase,
    ScanPhase,
    HotSpot,
    HotSchema,
    HotSet,
    Think,
    ThinkTime,
    /// When the next operation arrives (open loop).
    Arrival,
    Layout,
    Filler,
    Schema,
}

/// PostgreSQL's `hashint8extended(value, seed)`.
fn hashint8extended(value: i64, seed: i64) -> i64 {
    let high = (value >> 32) as u32;
    let folded = (value as u32) ^ if value >= 0 { high } else { !high };
    let start = 0x9e37_79b9_u32.wrapping_add(4).wrapping_add(3_923_095);
    let (mut a, mut b, mut c) = (start, start, start);
    if seed != 0 {
        a = a.wrapping_add((seed >> 32) as u32);
        b = b.wrapping_add(seed as u32);
        // Six steps turn the three words round twice, so each is back in its place.
        for turn in [4, 6, 8, 16, 19, 4] {
            let mixed = a.wrapping_sub(c) ^ c.rotate_left(turn);
            (a, b, c) = (b, c.wrapping_add(b), mixed);
        }
    }
    a = a.wrapping_add(folded);
    final_mix(a, b, c)
}

fn final_mix(mut a: u32, mut b: u32, mut c: u32) -> i64 {
    c = (c ^ b).wrapping_sub(b.rotate_left(14));
    a = (a ^ c).wrapping_sub(c.rotate_left(11));
    b = (b ^ a).wrapping_sub(a.rotate_left(25));
    c = (c ^ b).wrapping_sub(b.rotate_left(16));
    a = (a ^ c).wrapping_sub(c.rotate_left(4));
    b = (b ^ a).wrapping_sub(a.rotate_left(14));
    c = (c ^ b).wrapping_sub(b.rotate_left(24));
    ((u64::from(b) << 32) | u64::from(c)) as i64
}

/// The seed of the stream that `session` (from 0) uses for `purpose`; SplitMix64 finaliser over the three.
pub fn stream_seed(seed: u64, session: u32, purpose: Purpose) -> i64 {
    let mixed = mix64(mix64(seed ^ 0x6d69_6e64_6675_6c00) ^ (u64::from(session) << 8 | purpose as u64));
    mixed as i64
}

/// SplitMix64's finaliser (Steele, Lea, Flood 2014): a bijection of 64-bit words that scatters well.
pub fn mix64(word: u64) -> u64 {
    let z = word.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Draw `index` of a stream, 63 bits: `hashint8extended(hashint8extended(index, 0), stream) & (2^63 - 1)`.
///
/// The index is hashed twice: after one hash, draws of neighbouring indexes correlate by up to 0.18.
pub fn draw(index: u64, stream: i64) -> u64 {
    (hashint8extended(hashint8extended(index as i64, 0), stream) & i64::MAX) as u64
}

/// Draw `index` of a stream as a number in [0, 1), from its upper 53 bits.
pub fn draw_unit(index: u64, stream: i64) -> f64 {
    (draw(index, stream) >> 10) as f64 / (1_u64 << 53) as f64
}

/// A random permutation of `0..len` that needs no memory: a four-round Feistel network with cycle walking.
#[derive(Debug, Clone, Copy)]
pub struct Permutation {
    len: u64,
    half_bits: u32,
    keys: [i64; 4],
}

impl Permutation {
    /// The layout of `schema` (from 1) for a dataset seed: block number to key. The first of a series of candidates
    /// with a rank correlation below `max_correlation`, so that small tables keep the method's limit too.
    pub fn layout(len: u64, seed: u64, schema: u32, max_correlation: f64) -> Self {
        let base = stream_seed(seed, schema, Purpose::Layout);
        let candidate = |attempt: u64| Self::new(len, mix64(base as u64 ^ attempt));
        // In a long table chance is a tenth of the limit: nothing to check.
        if !(100..=250_000).contains(&len) {
            return candidate(0);
        }
        (0..256).map(candidate).find(|p| p.rank_correlation().abs() < max_correlation).unwrap_or_else(|| candidate(0))
    }

    /// The permutation of `0..len` that `seed` names.
    pub fn new(len: u64, seed: u64) -> Self {
        let bits = (64 - len.max(2).saturating_sub(1).leading_zeros()).max(2);
        let keys = std::array::from_fn(|round| mix64(seed ^ (round as u64) << 56) as i64);
        Self { len, half_bits: bits.div_ceil(2), keys }
    }

    pub fn get(&self, index: u64) -> u64 {
        self.walk(index, |word| self.rounds(word))
    }

    /// The first of the words that follow `word` by `rounds` which is an element.
    fn walk(&self, word: u64, rounds: impl Fn(u64) -> u64) -> u64 {
        debug_assert!(word < self.len);
        let mut word = rounds(word);
        while word >= self.len {
            word = rounds(word);
        }
        word
    }

    fn rounds(&self, word: u64) -> u64 {
        let mask = (1_u64 << self.half_bits) - 1;
        let (mut left, mut right) = (word >> self.half_bits, word & mask);
        for key in self.keys {
            (left, right) = (right, left ^ (mix64(right ^ key as u64) & mask));
        }
        left << self.half_bits | right
    }

    /// The element with the image `image`: the inverse of [`Permutation::get`].
    pub(crate) fn find(&self, image: u64) -> u64 {
        self.walk(image, |word| self.rounds_back(word))
    }

    fn rounds_back(&self, word: u64) -> u64 {
        let mask = (1_u64 << self.half_bits) - 1;
        let (mut left, mut right) = (word >> self.half_bits, word & mask);
        for key in self.keys.iter().rev() {
            (left, right) = (right ^ (mix64(left ^ *key as u64) & mask), left);
        }
        left << self.half_bits | right
    }

    /// Spearman's rank correlation of the places at which two permutations of the same length have the same image.
    pub fn correlation_with(&self, other: &Self) -> f64 {
        self.spearman(|i| other.find(self.get(i)))
    }

    /// Spearman's rank correlation of index and image: `1 - 6 sum d^2 / (n (n^2 - 1))`.
    pub fn rank_correlation(&self) -> f64 {
        self.spearman(|i| self.get(i))
    }

    fn spearman(&self, place: impl Fn(u64) -> u64) -> f64 {
        let n = self.len as f64;
        let squares: f64 = (0..self.len).map(|i| (place(i) as f64 - i as f64).powi(2)).sum();
        1.0 - 6.0 * squares / (n * (n * n - 1.0))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    const KNOWN: [(i64, i64, i64); 7] = [
        (0, 0, 4_154_612_158_245_552_303),
        (1, 0, -3_670_598_878_359_251_130),
        (1, 42, 2_207_685_931_686_633_351),
        (4_294_967_297, 42, -8_162_688_053_457_160_230),
        (-5, 42, -8_747_513_389_509_221_398),
        (123_456_789_012, -9_876_543_210_123, 3_917_738_897_697_507_213),
        (i64::MAX, i64::MAX, -6_906_076_658_251_606_270),
    ];

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_hash_is_the_one_of_postgresql() {
        // SELECT hashint8extended(v, s) on PostgreSQL 15.
        for (value, seed, expected) in KNOWN {
            assert_eq!(hashint8extended(value, seed), expected, "hashint8extended({value}, {seed})");
        }
    }

    #[test]
    fn neighbouring_draws_are_independent() {
        // Chi-square over an 8 x 8 table of neighbouring pairs, 63 degrees of freedom: 120 is beyond p = 0.00002.
        for stream in (0..20).map(|session| stream_seed(9, session, Purpose::Key)) {
            let mut cells = [0_f64; 64];
            for pair in 0..50_000 {
                let (a, b) = (draw(2 * pair, stream), draw(2 * pair + 1, stream));
                cells[((a >> 60) * 8 + (b >> 60)) as usize] += 1.0;
            }
            let expected = 50_000.0 / 64.0;
            let chi: f64 = cells.iter().map(|n| (n - expected).powi(2) / expected).sum();
            assert!(chi < 120.0, "stream {stream}: chi-square {chi}");
        }
    }

    proptest! {
        #[test]
        fn a_permutation_visits_each_number_once(len in 1_u64..3000, seed: u64) {
            let permutation = Permutation::new(len, seed);
            let seen: HashSet<u64> = (0..len).map(|i| permutation.get(i)).collect();
            prop_assert_eq!(seen.len() as u64, len);
            prop_assert!(seen.iter().all(|v| *v < len));
            prop_assert!((0..len).all(|i| permutation.find(permutation.get(i)) == i));
        }

        #[test]
        fn a_layout_holds_the_limit_and_differs_by_schema(len in 1000_u64..20_000, seed: u64) {
            let (one, two) = (Permutation::layout(len, seed, 1, 0.02), Permutation::layout(len, seed, 2, 0.02));
            prop_assert!(one.rank_correlation().abs() < 0.02);
            prop_assert!((0..len).filter(|i| one.get(*i) == two.get(*i)).count() < 20);
        }
    }
}
