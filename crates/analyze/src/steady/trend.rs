//! The largest change of a window's level that its noise permits.

use crate::stats::autocorrelation::{at_lag, time};
use crate::stats::moment::{line_slope, mean, variance};

/// Fewest points from which the noise round a line is taken.
const FEWEST: usize = 20;

/// Largest correlation of neighbours that is distinguished from a level that wanders off.
const LARGEST_LAG: f64 = 0.98;

/// Standard errors to either end of a 95 % interval.
const WIDTH: f64 = 1.96;

/// Rise or fall of the least-squares line from the first to the last point, by the mean.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Trend {
    /// The observed change, a share; below zero for a fall.
    pub change: f64,
    /// Its standard error, a share.
    pub error: f64,
}

impl Trend {
    /// The largest change, a share, that the window does not exclude: the far end of the 95 % interval.
    pub fn bound(&self) -> f64 {
        self.change.abs() + WIDTH * self.error
    }
}

/// The line through `series` with the error that its autocorrelation implies. The variance of a slope is the long-run
/// variance of the residuals by `n (n^2 - 1) / 12`. The long-run variance is the larger one of a first-order process's,
/// `var(innovation) / (1 - phi)^2`, and `tau var(residual)`. `None` below 20 points, or if the mean is not above zero.
pub fn trend(series: &[f64]) -> Option<Trend> {
    let n = series.len() as f64;
    let center = mean(series).filter(|m| *m > 0.0 && series.len() >= FEWEST)?;
    let slope = line_slope(series);
    let middle = (n - 1.0) / 2.0;
    let rest: Vec<f64> = series.iter().enumerate().map(|(i, v)| v - center - slope * (i as f64 - middle)).collect();
    let lag = at_lag(&rest, 1);
    // Taking out a line biases it by (2 + 4 lag) / n (Marriott and Pope 1954, for a trend).
    let phi = (lag + (2.0 + 4.0 * lag) / n).clamp(0.0, LARGEST_LAG);
    let innovations: Vec<f64> = rest.windows(2).map(|pair| pair[1] - phi * pair[0]).collect();
    let first_order = variance(&innovations)? / (1.0 - phi).powi(2);
    let long_run = first_order.max(time(&rest) * variance(&rest)?);
    let error = (12.0 * long_run / (n * (n * n - 1.0))).sqrt() * (n - 1.0);
    Some(Trend { change: slope * (n - 1.0) / center, error: error / center })
}
