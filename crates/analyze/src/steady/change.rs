//! Jumps inside a window.

use crate::stats::autocorrelation;
use crate::stats::moment::mean;
use crate::stats::random::Random;

/// Shortest stretch between two jumps, s.
const SHORTEST: usize = 15;

/// Jumps below this share of the mean do not count.
const SMALL: f64 = 0.02;

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
    /// Permutation p of "no jump".
    pub p: f64,
}

impl Change {
    /// Size of the change, up or down.
    pub(crate) fn size(&self) -> f64 {
        (self.after - self.before).abs()
    }
}

/// Finds jumps of the mean by E-Divisive with means (Matteson and James 2014). The best split of the means is kept if
/// few permutations do as well; then both sides are searched in the same way.
///
/// Seconds of a run are not exchangeable. Therefore the innovations of a first-order process with the autocorrelation
/// time of the series are permuted.
pub fn changes(series: &[f64], seed: u64) -> Vec<Change> {
    let mut random = Random::new(seed, "permutations of a series");
    let mut found = Vec::new();
    search(series, 0, &mut random, &mut found);
    found.sort_by_key(|(at, _)| *at);
    let boundaries: Vec<usize> = [0].into_iter().chain(found.iter().map(|f| f.0)).chain([series.len()]).collect();
    let level = |i: usize| mean(&series[boundaries[i]..boundaries[i + 1]]).unwrap_or(0.0);
    let change =
        |(i, (at_s, p)): (usize, &(usize, f64))| Change { at_s: *at_s, before: level(i), after: level(i + 1), p: *p };
    found.iter().enumerate().map(change).collect()
}

fn search(series: &[f64], offset: usize, random: &mut Random, found: &mut Vec<(usize, f64)>) {
    let Some((at, separation)) = best_split(series) else { return };
    let (before, after) = series.split_at(at);
    let (Some(low), Some(high), Some(center)) = (mean(before), mean(after), mean(series)) else { return };
    if center <= 0.0 || (high - low).abs() < SMALL * center {
        return;
    }
    let rest: Vec<f64> = before.iter().map(|v| v - low).chain(after.iter().map(|v| v - high)).collect();
    let Some(p) = permutation_p(&rest, separation, random) else { return };
    found.push((offset + at, p));
    search(before, offset, random, found);
    search(after, offset + at, random, found);
}

/// The split with the largest `n1 n2 / n (mean1 - mean2)^2`, and that figure.
fn best_split(series: &[f64]) -> Option<(usize, f64)> {
    let n = series.len();
    if n < 2 * SHORTEST {
        return None;
    }
    let all: f64 = series.iter().sum();
    let mut sum: f64 = series[..SHORTEST - 1].iter().sum();
    let mut best = (SHORTEST, f64::NEG_INFINITY);
    for at in SHORTEST..=n - SHORTEST {
        sum += series[at - 1];
        let (one, two) = (at as f64, (n - at) as f64);
        let separation = one * two / n as f64 * (sum / one - (all - sum) / two).powi(2);
        if separation > best.1 {
            best = (at, separation);
        }
    }
    Some(best)
}

/// Share of permutations that separate at least as well; `None` as soon as it can no longer be significant.
fn permutation_p(rest: &[f64], separation: f64, random: &mut Random) -> Option<f64> {
    let tau = autocorrelation::time(rest);
    let lag = autocorrelation::at_lag(rest, 1);
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
        as_good += u32::from(best_split(&drawn).is_some_and(|(_, s)| s >= separation));
        if f64::from(as_good + 1) >= SIGNIFICANT * f64::from(PERMUTATIONS + 1) {
            return None;
        }
    }
    Some(f64::from(as_good + 1) / f64::from(PERMUTATIONS + 1))
}
