//! A rate that goes up and down: its period, its swing, and the checkpoints of the database.

use crate::stats::moment::{batch_means, mean, sorted};
use crate::stats::series::at_lag;

/// Correlation of a series with itself that shows a period.
const STRONG: f64 = 0.5;

/// Seconds averaged before the search for periods; shorter ones average out in every figure.
const GRAIN_S: usize = 5;

/// The first strong peak of the autocorrelation after it has been clearly below zero once, on 5-s means. The series has
/// to hold the period twice and a half.
pub fn period_s(series: &[f64]) -> Option<usize> {
    let means = batch_means(series, GRAIN_S);
    let n = means.len();
    let correlation: Vec<f64> =
        (0..=n * 2 / 5).map(|lag| at_lag(&means, lag) * n as f64 / n.saturating_sub(lag).max(1) as f64).collect();
    let trough = correlation.iter().position(|c| *c < -STRONG / 2.0)?;
    let peak = (trough + 1..correlation.len().saturating_sub(1)).find(|lag| {
        let here = correlation[*lag];
        here >= STRONG && here >= correlation[lag - 1] && here >= correlation[lag + 1]
    })?;
    Some(peak * GRAIN_S)
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cover {
    pub whole: usize,
    pub from_s: f64,
    pub to_s: f64,
}

/// Whole cycles between `from_s` and `to_s`; a cycle lasts from the end of one checkpoint to the end of the next one.
pub fn cover(ends_s: &[f64], from_s: f64, to_s: f64) -> Cover {
    let inside: Vec<f64> = sorted(ends_s).into_iter().filter(|end| (from_s..=to_s).contains(end)).collect();
    match inside.as_slice() {
        [first, .., last] => Cover { whole: inside.len() - 1, from_s: *first, to_s: *last },
        _ => Cover { whole: 0, from_s, to_s },
    }
}

/// Fewest points that show a rate twice and the other rate twice.
const FEWEST: usize = 6;
/// One in so many points, and at least one, is left out at either end: a single slow point is no swing.
const LEFT_OUT: usize = 12;
/// Range of the others, by the mean. It is five times the standard deviation of noise of 8 %.
const WIDE: f64 = 0.40;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Swing {
    /// The lowest rate, single points apart.
    pub low: f64,
    pub high: f64,
    /// Number of points after which it repeats.
    pub period: Option<usize>,
}

/// The swing of a series; `None` if it is level, has fewer than 6 points, or contains no work.
pub(crate) fn swing(series: &[f64]) -> Option<Swing> {
    let rising = sorted(series);
    let left_out = (series.len() / LEFT_OUT).max(1);
    let kept = rising.get(left_out..series.len().checked_sub(left_out)?).filter(|_| series.len() >= FEWEST)?;
    let (low, high) = (*kept.first()?, *kept.last()?);
    let wide = high - low > WIDE * mean(series)?;
    wide.then(|| Swing { low, high, period: period(series) })
}

/// The first strong peak of the autocorrelation after it was below zero, in points.
fn period(series: &[f64]) -> Option<usize> {
    let lags: Vec<f64> = (0..=series.len() / 2).map(|lag| at_lag(series, lag)).collect();
    let turned = lags.iter().position(|lag| *lag < 0.0)?;
    (turned + 1..lags.len()).find(|lag| {
        let after = lags.get(lag + 1).copied().unwrap_or(f64::MIN);
        lags[*lag] >= STRONG && lags[*lag] >= after
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_points_show_a_rate_that_alternates_and_its_period() {
        let alternating: Vec<f64> = (0..10).map(|i| if i % 2 == 0 { 16.6e3 } else { 63.7e3 }).collect();
        assert_eq!(swing(&alternating), Some(Swing { low: 16.6e3, high: 63.7e3, period: Some(2) }));
        let limited: Vec<f64> = (0..12).map(|i| if i % 4 == 3 { 9e3 } else { 30e3 }).collect();
        assert_eq!(swing(&limited).and_then(|swing| swing.period), Some(4));
    }

    #[test]
    fn one_slow_point_and_ordinary_noise_are_no_swing() {
        let noisy = [100.0, 110.0, 92.0, 104.0, 97.0, 88.0, 109.0, 30.0, 101.0, 95.0];
        assert_eq!(swing(&noisy), None);
        assert_eq!((swing(&[]), swing(&[0.0; 10])), (None, None));
    }
}
