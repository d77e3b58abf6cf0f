//! Proof by a sample: the number of blocks to draw from a schema, and the errors that they can miss.

/// ln 10^9: a sample may miss its error once in 10^9.
const LN_ONCE_IN: f64 = 20.723_265_836_946_41;

/// The largest share of wrong blocks in a schema, unless the written correlations require a smaller one.
pub const MAX_WRONG_SHARE: f64 = 1.0 / 1000.0;

/// Change of a correlation when a share f of the rows is in another place, as a multiple of f. Each moved row changes
/// the covariance by at most N/2 times N by N, which is 6 f of the product of deviations N^2/12. All moved rows shrink
/// a deviation by a factor of at most sqrt(1 - 3 f).
const MOVED_BY: f64 = 6.1;

/// The share of wrong blocks below which a correlation is changed by less than `margin`; [`MAX_WRONG_SHARE`] at most.
pub fn max_wrong_share(margin: f64) -> f64 {
    MAX_WRONG_SHARE.min(margin / MOVED_BY)
}

/// Number of `blocks` to draw without replacement. If a `share` of them is wrong, a sample of this size misses all wrong
/// ones once in 10^9 at most. Each of W wrong blocks is left out with probability 1 - n/N. All of them are left out with
/// probability (1 - n/N)^W at most.
pub fn sample_size(blocks: u64, share: f64) -> u64 {
    let wrong = share.max(0.0) * blocks as f64;
    let drawn = -(-LN_ONCE_IN / wrong).exp_m1() * blocks as f64;
    (drawn.ceil() as u64).min(blocks)
}

/// Largest difference between the correlation of `blocks` and the written one, if `drawn` of them were right.
pub(crate) fn correlation_error(blocks: u64, drawn: u64) -> f64 {
    if drawn >= blocks {
        return 0.0;
    }
    let looked_at = drawn as f64 / blocks as f64;
    MOVED_BY * LN_ONCE_IN / -(-looked_at).ln_1p() / blocks as f64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The exact probability that no wrong block is drawn.
    fn missed(blocks: u64, wrong: u64, drawn: u64) -> f64 {
        let chance = |k: u64| (blocks - drawn).saturating_sub(k) as f64 / (blocks - k) as f64;
        (0..wrong).map(chance).product()
    }

    #[test]
    fn a_large_schema_takes_what_does_not_depend_on_its_size() {
        assert_eq!(
            [1 << 16, 1 << 20, 1 << 30].map(|blocks| sample_size(blocks, MAX_WRONG_SHARE)),
            [17_767, 20_520, 20_724]
        );
        assert_eq!(sample_size(1000, MAX_WRONG_SHARE), 1000);
        assert_eq!(sample_size(1 << 20, 0.0), 1 << 20);
    }

    proptest! {
        #[test]
        fn a_sample_misses_a_fault_once_in_a_billion(
            blocks in 100_u64..3_000_000, share in 0.000_05_f64..MAX_WRONG_SHARE
        ) {
            let drawn = sample_size(blocks, share);
            let wrong = (share * blocks as f64).ceil() as u64;
            prop_assert!(missed(blocks, wrong, drawn) <= 1.000_001e-9);
            // And not far from it: each drawn block costs a read.
            prop_assume!(drawn < blocks / 2 && wrong > 20);
            prop_assert!(missed(blocks, wrong, drawn * 3 / 4) > 1e-9);
        }

        #[test]
        fn the_error_is_that_of_the_share_drawn_for(
            blocks in 100_u64..3_000_000, share in 0.000_05_f64..MAX_WRONG_SHARE
        ) {
            let drawn = sample_size(blocks, share);
            let error = correlation_error(blocks, drawn);
            prop_assert!(error <= MOVED_BY * share * 1.000_001, "{error}");
            prop_assert!(drawn == blocks || error > MOVED_BY * share * 0.9, "{error}");
        }

        #[test]
        fn misplaced_rows_move_the_correlation_within_the_error(
            seed: u64, rows in 500_u64..3000, wrong in 1_u64..20
        ) {
            let written = crate::workload::draw::Permutation::new(rows, seed);
            let mut places: Vec<u64> = (0..rows).collect();
            // The worst there is: the first in order of their keys go to one end.
            for key in 0..wrong {
                places[written.find(key) as usize] = rows - 1 - key;
            }
            let pairs = |place: &dyn Fn(u64) -> u64| {
                let pairs: Vec<_> = (0..rows).map(|block| (written.get(block) as f64, place(block) as f64)).collect();
                correlation(&pairs)
            };
            let moved = (pairs(&|block| places[block as usize]) - pairs(&|block| block)).abs();
            prop_assert!(moved < MOVED_BY * wrong as f64 / rows as f64, "{moved}");
        }
    }

    /// Pearson's.
    fn correlation(pairs: &[(f64, f64)]) -> f64 {
        let n = pairs.len() as f64;
        let mean = |of: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>() / n;
        let (x, y) = (mean(&|pair| pair.0), mean(&|pair| pair.1));
        let sum = |of: &dyn Fn(&(f64, f64)) -> f64| pairs.iter().map(of).sum::<f64>();
        sum(&|p| (p.0 - x) * (p.1 - y)) / (sum(&|p| (p.0 - x).powi(2)) * sum(&|p| (p.1 - y).powi(2))).sqrt()
    }
}
