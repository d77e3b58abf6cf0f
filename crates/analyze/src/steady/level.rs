//! The level of a window: where it begins, its range and slope, how well it is known, and what moves it.

use crate::stats::distribution::t_quantile;
use crate::stats::moment::{batch_means, line_slope, mean, variance};
use crate::stats::series::{at_lag, autocorrelation_time, mann_kendall, theil_sen};

/// Points of a batch of MSER-5.
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

/// Fewest batches for which a perfect order is significant.
const FEWEST_BATCHES: usize = 6;

const SIGNIFICANT: f64 = 0.01;

/// Changes over the window below this share do not count.
const SMALL: f64 = 0.01;

/// Slow change in one direction.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Drift {
    /// Whether the two-sided p of "no trend" (Mann-Kendall on batch means) is below 0.01.
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
    let slope = line_slope(series);
    let rest: Vec<f64> = series.iter().enumerate().map(|(i, v)| v - slope * i as f64).collect();
    let longest = series.len() / FEWEST_BATCHES;
    let batch = ((2.0 * autocorrelation_time(&rest)).ceil() as usize).clamp(1, longest);
    // Few batches are faster to compare, and a trend shows in them as well.
    let batch = batch.max(series.len() / 100).max(1);
    let batches = batch_means(series, batch);
    let change = theil_sen(&batches) / batch as f64 * (series.len() - 1) as f64 / center;
    Some(Drift { significant: mann_kendall(&batches) < SIGNIFICANT, change })
}

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
    let long_run = first_order.max(autocorrelation_time(&rest) * variance(&rest)?);
    let error = (12.0 * long_run / (n * (n * n - 1.0))).sqrt() * (n - 1.0);
    Some(Trend { change: slope * (n - 1.0) / center, error: error / center })
}

/// Fewest and most batches of the interval of a mean.
const BATCHES: [usize; 2] = [20, 40];

/// Least length of a batch, in autocorrelation times.
const LENGTH: f64 = 5.0;

/// Half of the 95 % interval of the mean, by the mean, from batch means (Law and Carson 1979): 20 to 40 batches of at
/// least five autocorrelation times. The interval of a shorter series comes from the independent points that it is worth.
/// `None` below ten points, or if the mean is not above zero.
pub fn precision(series: &[f64]) -> Option<f64> {
    let center = mean(series).filter(|m| *m > 0.0 && series.len() >= 10)?;
    let points = series.len() as f64 / autocorrelation_time(series);
    let error = |square: f64, count: f64| t_quantile(0.975, (count - 1.0).max(1.0)) * (square / count).sqrt();
    let [fewest, most] = BATCHES;
    let half = match (points / LENGTH).floor() as usize {
        fitting if fitting >= fewest => {
            let count = fitting.min(most);
            error(variance(&batch_means(series, series.len() / count))?, count as f64)
        }
        _ => error(variance(series)?, points),
    };
    Some(half / center)
}
