//! Series of numbers: autocorrelation, trend tests on short ones, and changes of a mean.

use super::distribution::normal_below;
use super::moment::{batch_means, mean, median, sorted, variance};

const FEWEST_BATCHES: usize = 8;

/// Integrated autocorrelation time in points, at least 1: the largest of `b var(batch mean) / var` over batch lengths
/// b = 1, 2, 4… with at least eight batches. A constant or very short series has 1.
pub fn autocorrelation_time(series: &[f64]) -> f64 {
    let Some(whole) = variance(series).filter(|v| *v > 0.0) else { return 1.0 };
    let lengths = std::iter::successors(Some(1_usize), |b| Some(b * 2));
    lengths
        .take_while(|b| series.len() / b >= FEWEST_BATCHES)
        .filter_map(|b| Some(b as f64 * variance(&batch_means(series, b))? / whole))
        .fold(1.0, f64::max)
}

/// Correlation of the series with itself `lag` points later; 0 if not known.
pub(crate) fn at_lag(series: &[f64], lag: usize) -> f64 {
    let Some(center) = mean(series) else { return 0.0 };
    let square: f64 = series.iter().map(|v| (v - center).powi(2)).sum();
    if lag >= series.len() || square <= 0.0 {
        return 0.0;
    }
    let cross: f64 = series.iter().zip(&series[lag..]).map(|(a, b)| (a - center) * (b - center)).sum();
    cross / square
}

/// Up to this many values without ties the distribution of Kendall's S is counted exactly.
const EXACT_VALUES: usize = 20;

/// Two-sided p of the Mann-Kendall test of no trend (Mann 1945, Kendall 1975): exact for up to 20 values without ties,
/// else normal with tie and continuity correction. 1 below three values.
pub(crate) fn mann_kendall(values: &[f64]) -> f64 {
    let n = values.len();
    if n < 3 {
        return 1.0;
    }
    let mut rises = 0_i64;
    for (i, earlier) in values.iter().enumerate() {
        rises += values[i + 1..].iter().map(|later| sign(later - earlier)).sum::<i64>();
    }
    let ties = tie_groups(values);
    if n <= EXACT_VALUES && ties.is_empty() {
        return exact(n, rises.unsigned_abs() as usize);
    }
    let spread = |count: f64| count * (count - 1.0) * (2.0 * count + 5.0);
    let variance = (spread(n as f64) - ties.iter().map(|t| spread(*t as f64)).sum::<f64>()) / 18.0;
    if variance <= 0.0 {
        return 1.0;
    }
    let beyond = (rises.unsigned_abs() as f64 - 1.0).max(0.0);
    (2.0 * normal_below(-beyond / variance.sqrt())).min(1.0)
}

/// P(|S| >= s) over all orders of n values: S = pairs - 2 inversions, inversions counted by the Mahonian recursion.
fn exact(n: usize, s: usize) -> f64 {
    let pairs = n * (n - 1) / 2;
    let mut share = vec![0.0; pairs + 1];
    share[0] = 1.0;
    for i in 2..=n {
        let before = share.clone();
        let mut window = 0.0;
        for k in 0..=pairs {
            window += before[k];
            if k >= i {
                window -= before[k - i];
            }
            share[k] = window / i as f64;
        }
    }
    let fewest = (pairs - s) / 2;
    (2.0 * share[..=fewest].iter().sum::<f64>()).min(1.0)
}

fn sign(difference: f64) -> i64 {
    i64::from(difference > 0.0) - i64::from(difference < 0.0)
}

fn tie_groups(values: &[f64]) -> Vec<usize> {
    let rising = sorted(values);
    rising.chunk_by(|a, b| a >= b).map(<[f64]>::len).filter(|len| *len > 1).collect()
}

/// Median of the slopes of all pairs, per step (Theil 1950, Sen 1968); 0 below two values.
pub(crate) fn theil_sen(values: &[f64]) -> f64 {
    let slopes: Vec<f64> = values
        .iter()
        .enumerate()
        .flat_map(|(i, a)| values[i + 1..].iter().enumerate().map(move |(gap, b)| (b - a) / (gap + 1) as f64))
        .collect();
    median(&slopes).unwrap_or(0.0)
}

/// A change of the mean between two stretches of a series.
pub(crate) struct Split {
    /// The first point after it.
    pub at: usize,
    /// Mean of the stretch before.
    pub before: f64,
    pub after: f64,
    pub p: f64,
}

/// The changes of the mean of `series` in order, at least `shortest` points apart, by E-Divisive with means (Matteson and
/// James 2014). The best split is kept if `p_of` its two sides and its separation is known. Then both sides are searched in
/// the same way.
pub(crate) fn splits(
    series: &[f64],
    shortest: usize,
    mut p_of: impl FnMut(&[f64], &[f64], f64) -> Option<f64>,
) -> Vec<Split> {
    let (mut open, mut found) = (vec![(0, series)], Vec::new());
    while let Some((first, part)) = open.pop() {
        let Some((at, separation)) = best_split(part, shortest) else { continue };
        let (before, after) = part.split_at(at);
        if let Some(p) = p_of(before, after, separation) {
            found.push((first + at, p));
            open.extend([(first + at, after), (first, before)]);
        }
    }
    found.sort_by_key(|(at, _)| *at);
    let boundaries: Vec<usize> = [0].into_iter().chain(found.iter().map(|(at, _)| *at)).chain([series.len()]).collect();
    let level = |i: usize| mean(&series[boundaries[i]..boundaries[i + 1]]).unwrap_or(0.0);
    let split = |(i, (at, p))| Split { at, before: level(i), after: level(i + 1), p };
    found.into_iter().enumerate().map(split).collect()
}

/// The split with the largest `n1 n2 / n (mean1 - mean2)^2`, and that figure.
pub(crate) fn best_split(series: &[f64], shortest: usize) -> Option<(usize, f64)> {
    let n = series.len();
    if n < 2 * shortest {
        return None;
    }
    let all: f64 = series.iter().sum();
    let mut sum: f64 = series[..shortest - 1].iter().sum();
    let mut best = (shortest, f64::NEG_INFINITY);
    for at in shortest..=n - shortest {
        sum += series[at - 1];
        let (one, two) = (at as f64, (n - at) as f64);
        let separation = one * two / n as f64 * (sum / one - (all - sum) / two).powi(2);
        if separation > best.1 {
            best = (at, separation);
        }
    }
    Some(best)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::random::Random;

    #[test]
    fn the_time_of_a_first_order_process_is_not_underestimated() {
        for phi in [0.0, 0.5, 0.8] {
            let mut random = Random::new(3, "tau");
            let mut level = 0.0;
            let series: Vec<f64> = (0..8_000)
                .map(|_| {
                    level = phi * level + random.normal();
                    level
                })
                .collect();
            let expected = (1.0 + phi) / (1.0 - phi);
            let reported = autocorrelation_time(&series) / expected;
            // The largest of many noisy ratios is rather too high than too low.
            assert!((0.75..2.2).contains(&reported), "phi {phi}: {reported} of the true time");
        }
    }

    #[test]
    fn constants_and_short_series_have_time_one() {
        for series in [&[][..], &[5.0], &[5.0, 6.0], &[2.0; 100]] {
            assert!((autocorrelation_time(series) - 1.0).abs() < 1e-12);
            assert!(at_lag(series, 1).is_finite());
        }
    }

    #[test]
    fn exact_p_values_are_those_of_kendalls_table() {
        // Kendall's table, upper tail: n = 4, S = 6: 0.042; n = 5, S = 8: 0.042; n = 6, S = 11: 0.028.
        for (n, s, tail) in [(4, 6, 0.042), (5, 8, 0.042), (6, 11, 0.028), (8, 16, 0.031), (10, 21, 0.036)] {
            assert!((exact(n, s) / 2.0 - tail).abs() < 6e-4, "n {n}, S {s}: {}", exact(n, s) / 2.0);
        }
    }

    #[test]
    fn a_line_is_a_trend_and_a_constant_is_not() {
        let line: Vec<f64> = (0..12).map(f64::from).collect();
        assert!(mann_kendall(&line) < 1e-7);
        assert!((theil_sen(&line) - 1.0).abs() < 1e-12);
        assert!((mann_kendall(&[4.0; 30]) - 1.0).abs() < 1e-12);
    }
}
