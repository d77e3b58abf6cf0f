//! Jumps inside a window.

use crate::stats::moment::mean;
use crate::stats::random::Random;
use crate::stats::series::{Split, at_lag, autocorrelation_time, best_split, splits};

/// Shortest stretch between two jumps, s.
const SHORTEST: usize = 15;

/// Jumps below this share of the mean do not count.
const SMALL: f64 = 0.02;

const SEED: u64 = 1;
const SIGNIFICANT: f64 = 0.01;
const PERMUTATIONS: u32 = 499;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Change {
    /// First second after it.
    pub at_s: usize,
    /// Mean of the stretch before.
    pub before: f64,
    /// Mean of the stretch after.
    pub after: f64,
}

impl Change {
    /// Size of the change, up or down.
    pub(crate) fn size(&self) -> f64 {
        (self.after - self.before).abs()
    }
}

/// Finds jumps of the mean. A split is kept if few permutations do as well.
///
/// Seconds of a run are not exchangeable. Therefore the innovations of a first-order process with the autocorrelation
/// time of the series are permuted.
pub fn changes(series: &[f64]) -> Vec<Change> {
    let mut random = Random::new(SEED, "permutations of a series");
    let p_of = |before: &[f64], after: &[f64], separation: f64| {
        let (low, high) = (mean(before)?, mean(after)?);
        let center = mean(&[before, after].concat()).filter(|center| *center > 0.0)?;
        if (high - low).abs() < SMALL * center {
            return None;
        }
        let rest: Vec<f64> = before.iter().map(|v| v - low).chain(after.iter().map(|v| v - high)).collect();
        permutation_p(&rest, separation, &mut random)
    };
    let change = |split: Split| Change { at_s: split.at, before: split.before, after: split.after };
    splits(series, SHORTEST, p_of).into_iter().map(change).collect()
}

/// Share of permutations that separate at least as well; `None` as soon as it can no longer be significant.
fn permutation_p(rest: &[f64], separation: f64, random: &mut Random) -> Option<f64> {
    let tau = autocorrelation_time(rest);
    let lag = at_lag(rest, 1);
    // Taking out one mean biases it by (1 + 3 lag) / n (Kendall 1954). Two means are taken out here, of half the points
    // each.
    let corrected = lag + 4.0 * (1.0 + 3.0 * lag) / rest.len() as f64;
    let phi = ((tau - 1.0) / (tau + 1.0)).max(corrected).clamp(0.0, 0.99);
    let mut innovations: Vec<f64> = rest.windows(2).map(|pair| pair[1] - phi * pair[0]).collect();
    let mut level = 0.0;
    let mut as_good = 0;
    for _ in 0..PERMUTATIONS {
        random.shuffle(&mut innovations);
        let drawn: Vec<f64> = innovations
            .iter()
            .map(|innovation| {
                // The level continues from one permutation to the next, so each one starts in its stationary state.
                level = phi * level + innovation;
                level
            })
            .collect();
        as_good += u32::from(best_split(&drawn, SHORTEST).is_some_and(|(_, s)| s >= separation));
        if f64::from(as_good + 1) >= SIGNIFICANT * f64::from(PERMUTATIONS + 1) {
            return None;
        }
    }
    Some(f64::from(as_good + 1) / f64::from(PERMUTATIONS + 1))
}
