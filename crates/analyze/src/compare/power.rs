//! The differences that a number of runs can detect.

use crate::stats::distribution::t_quantile;
use crate::stats::interval::{CONFIDENCE, TAIL};
use crate::stats::rank_sum::RankSum;

/// The share of cases in which a difference must be found.
const POWER: f64 = 0.8;

/// More runs a side than this are not advice.
const MOST_RUNS: u32 = 500;

/// Asymptotic efficiency of rank tests by t tests on normal data, 3 / pi (Hodges and Lehmann 1956).
const RANK_EFFICIENCY: f64 = 3.0 / std::f64::consts::PI;

/// Smallest difference that `runs` a side detect in four of five cases, as a share; `variation` is the relative
/// standard deviation between runs. `None` below four runs, because their exact test cannot reach 95 %.
///
/// `(t[1 - a/2] + t[0.8]) variation sqrt(2 / runs)`, t with `2 runs - 2` degrees. The level a is the actual one of the
/// exact test, and the efficiency of ranks is included. For many runs this becomes the common `2.80 variation sqrt(2 /
/// runs)`.
pub fn detectable_effect(variation: f64, runs: u32) -> Option<f64> {
    let chance = RankSum::new(runs as usize, runs as usize);
    let tail = chance.at_most(chance.critical(TAIL)? as f64);
    let freedom = f64::from(2 * runs - 2);
    let reach = t_quantile(1.0 - tail, freedom) + t_quantile(POWER, freedom);
    Some((reach * variation * (2.0 / (f64::from(runs) * RANK_EFFICIENCY)).sqrt()).exp_m1())
}

/// Whether these numbers of runs can show any difference when `points` of a sweep are judged together. The smallest p
/// of the exact test belongs to two sides that do not overlap.
pub fn can_tell(baseline: usize, candidate: usize, points: usize) -> bool {
    let smallest = 2.0 * RankSum::new(baseline, candidate).at_most(0.0) * points as f64;
    smallest <= (1.0 - CONFIDENCE) * (1.0 + 1e-9)
}

pub fn runs_to_tell(points: usize) -> usize {
    (2..MOST_RUNS as usize).find(|runs| can_tell(*runs, *runs, points)).unwrap_or(MOST_RUNS as usize)
}

/// Runs a side that detect a difference of `distance` (on the logarithm) in four of five cases; `None` above 500.
pub fn runs_needed(variation: f64, distance: f64) -> Option<u32> {
    let enough = |runs: u32| detectable_effect(variation, runs).is_some_and(|d| d.ln_1p() <= distance);
    if !enough(MOST_RUNS) {
        return None;
    }
    let (mut short, mut long) = (0, MOST_RUNS);
    while long - short > 1 {
        let middle = u32::midpoint(short, long);
        if enough(middle) { long = middle } else { short = middle }
    }
    Some(long)
}

/// Runs a side that detect a `difference` (a share) beyond `margin` between two of `sides` in four of five cases.
/// `None` above 500. `variation` is that between runs of one plan.
pub fn runs_to_rank(variation: f64, difference: f64, margin: f64, sides: usize) -> Option<u32> {
    let distance = difference.ln_1p() - margin.ln_1p();
    let pairs = (sides * sides.saturating_sub(1) / 2).max(1) as f64;
    let enough = |runs: &u32| {
        // Welch's degrees of freedom with few runs: their mean over samples of equal variance.
        let freedom = 1.6 * f64::from(runs - 1);
        let reach = t_quantile(1.0 - TAIL / pairs, freedom) + t_quantile(POWER, freedom);
        reach * variation * (2.0 / f64::from(*runs)).sqrt() <= distance
    };
    let exact = if distance > 0.0 { runs_needed(variation, distance)? } else { return None };
    // The exact test of this pair must agree.
    if sides < 3 { Some(exact) } else { (exact..=MOST_RUNS).find(enough) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sides of three that do not overlap come by chance in one of ten, two of four in one of 35.
    #[test]
    fn three_runs_a_side_cannot_decide_and_four_can() {
        assert!([(3, 3), (3, 4)].iter().all(|(a, b)| !can_tell(*a, *b, 1)));
        assert!([(4, 4), (3, 5), (2, 8)].iter().all(|(a, b)| can_tell(*a, *b, 1)));
        assert_eq!([1, 2, 5, 20].map(runs_to_tell), [4, 5, 5, 6]);
    }
}
