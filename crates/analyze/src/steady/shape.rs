//! Range and slope of a window.

use crate::stats::moment::{batch_means, line_slope, mean};

/// Seconds that are averaged before the range is taken: a range over raw points grows with their number.
const ROUND_S: usize = 10;

const FEWEST_ROUNDS: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shape {
    /// Largest minus smallest 10-s mean, by the mean.
    pub range: f64,
    /// Rise or fall of the least-squares line from the first to the last point, by the mean.
    pub excursion: f64,
}

/// In the manner of SNIA's test for steady state; `None` below five rounds of 10 s, or if the mean is not above zero.
pub fn shape(window: &[f64]) -> Option<Shape> {
    let center = mean(window).filter(|m| *m > 0.0)?;
    let rise = line_slope(window).abs() * (window.len() - 1) as f64;
    Some(Shape { range: range(window)?, excursion: rise / center })
}

/// Largest minus smallest 10-s mean, by the mean.
pub(super) fn range(window: &[f64]) -> Option<f64> {
    let rounds = batch_means(window, ROUND_S);
    let center = mean(&rounds).filter(|m| *m > 0.0 && rounds.len() >= FEWEST_ROUNDS)?;
    let highest = rounds.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let lowest = rounds.iter().copied().fold(f64::INFINITY, f64::min);
    Some((highest - lowest) / center)
}
