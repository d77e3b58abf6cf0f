//! Where the warm-up ends.

use crate::stats::moment::batch_means;

const BATCH: usize = 5;

/// Fewest batches after a cut: a variance of fewer means nothing.
const LEFT: usize = 5;

/// A cut past the middle counts as "still warming up" only if it is better than the best early cut by this.
const CLEARLY: f64 = 0.5;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Truncation {
    /// Points to leave out at the start.
    pub warmup: usize,
    /// Whether the best cut lies in the first half.
    pub steady: bool,
}

/// MSER-5 (White 1997; Spratt 1998): the cut after which the standard error of the mean of batches of five is smallest,
/// `argmin_d sum_{i>d} (Y_i - mean)^2 / (n - d)^2`. A best cut past the middle shows that the series has not settled,
/// if it is clearly better than the best one before the middle; near ties there are chance.
pub fn mser5(series: &[f64]) -> Truncation {
    let batches = batch_means(series, BATCH);
    let n = batches.len();
    if n < 2 * LEFT {
        return Truncation { warmup: 0, steady: true };
    }
    let errors = errors_after(&batches);
    let least = |range: std::ops::Range<usize>| range.min_by(|a, b| errors[*a].total_cmp(&errors[*b])).unwrap_or(0);
    let (early, late) = (least(0..n / 2 + 1), least(n / 2 + 1..n - LEFT + 1));
    let steady = n / 2 + 1 > n - LEFT || errors[late] >= CLEARLY * errors[early];
    Truncation { warmup: BATCH * if steady { early } else { late }, steady }
}

/// For each cut d the squared standard error of the rest, summed from the end.
fn errors_after(batches: &[f64]) -> Vec<f64> {
    let mut errors = vec![f64::INFINITY; batches.len()];
    // Welford's update, backwards.
    let (mut count, mut mean, mut squares) = (0.0, 0.0, 0.0);
    for (d, value) in batches.iter().enumerate().rev() {
        count += 1.0;
        let apart = value - mean;
        mean += apart / count;
        squares += apart * (value - mean);
        errors[d] = squares / (count * count);
    }
    errors
}
