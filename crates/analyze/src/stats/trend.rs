//! Trend tests on short series.

use super::distribution::normal_below;
use super::moment::median;

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
    let rising = super::moment::sorted(values);
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

#[cfg(test)]
mod tests {
    use super::*;

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
