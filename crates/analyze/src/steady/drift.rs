//! Slow change in one direction.

use crate::stats::autocorrelation;
use crate::stats::moment::{batch_means, mean};
use crate::stats::trend::{mann_kendall, theil_sen};

/// Fewest batches for which a perfect order is significant.
const FEWEST_BATCHES: usize = 6;

const SIGNIFICANT: f64 = 0.01;

/// Changes over the window below this share do not count.
const SMALL: f64 = 0.01;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Two-sided p of "no trend" (Mann-Kendall on batch means).
    pub p: f64,
    /// Whether p is below 0.01.
    pub significant: bool,
    /// Change from the start to the end of the window, by its mean (Theil-Sen).
    pub change: f64,
}

impl Drift {
    /// A trend that is significant and larger than 1 % over the window.
    pub fn is_drift(&self) -> bool {
        self.significant && self.change.abs() > SMALL
    }
}

/// Tests the means of batches, each twice the autocorrelation time of the residuals from a straight line. So slow noise
/// does not count as a trend. `None` below twelve points, or if the mean is not above zero.
pub fn drift(series: &[f64]) -> Option<Drift> {
    let center = mean(series).filter(|m| *m > 0.0 && series.len() >= 2 * FEWEST_BATCHES)?;
    let slope = crate::stats::moment::line_slope(series);
    let rest: Vec<f64> = series.iter().enumerate().map(|(i, v)| v - slope * i as f64).collect();
    let longest = series.len() / FEWEST_BATCHES;
    let batch = ((2.0 * autocorrelation::time(&rest)).ceil() as usize).clamp(1, longest);
    // Few batches are faster to compare, and a trend shows in them as well.
    let batch = batch.max(series.len() / 100).max(1);
    let batches = batch_means(series, batch);
    let p = mann_kendall(&batches);
    let change = theil_sen(&batches) / batch as f64 * (series.len() - 1) as f64 / center;
    Some(Drift { p, significant: p < SIGNIFICANT, change })
}
