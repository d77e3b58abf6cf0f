//! Whether a window is long enough.

use crate::stats::autocorrelation;
use crate::stats::distribution::t_quantile;
use crate::stats::moment::{batch_means, mean, variance};

const FEWEST: usize = 20;

const MOST: usize = 40;

/// Least length of a batch, in autocorrelation times.
const LENGTH: f64 = 5.0;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Precision {
    /// Half of the 95 % interval of the mean, by the mean.
    pub half_width: f64,
    /// Autocorrelation time, s.
    pub tau_s: f64,
    /// Independent points that the series is worth.
    pub effective_points: f64,
    /// Batches of the interval; `None` for a series too short for 20 batches of five autocorrelation times. Then the
    /// interval comes from its effective points.
    pub batches: Option<usize>,
}

/// Interval of the mean by batch means (Law and Carson 1979): 20 to 40 batches of at least five autocorrelation times.
/// `None` below ten points, or if the mean is not above zero.
pub fn precision(series: &[f64]) -> Option<Precision> {
    let center = mean(series).filter(|m| *m > 0.0 && series.len() >= 10)?;
    let tau = autocorrelation::time(series);
    let effective_points = series.len() as f64 / tau;
    let fitting = (effective_points / LENGTH).floor() as usize;
    let batches = (fitting >= FEWEST).then_some(fitting.min(MOST));
    let error = |square: f64, count: f64| t_quantile(0.975, (count - 1.0).max(1.0)) * (square / count).sqrt();
    let half = match batches {
        Some(k) => error(variance(&batch_means(series, series.len() / k))?, k as f64),
        None => error(variance(series)?, effective_points),
    };
    Some(Precision { half_width: half / center, tau_s: tau, effective_points, batches })
}
