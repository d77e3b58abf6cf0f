//! Periodic behaviour: a period of the throughput, and the checkpoints of the database.

use crate::stats::autocorrelation::at_lag;
use crate::stats::moment::batch_means;

const STRONG: f64 = 0.5;

/// Seconds averaged before the search for periods; shorter ones average out in every figure.
const GRAIN_S: usize = 5;

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Period {
    pub length_s: usize,
    /// Correlation of the series with itself one period later, at most 1.
    pub strength: f64,
}

/// The first strong peak of the autocorrelation after it has been clearly below zero once, on 5-s means. The series has
/// to hold the period twice and a half.
pub fn period(series: &[f64]) -> Option<Period> {
    let means = batch_means(series, GRAIN_S);
    let n = means.len();
    let correlation: Vec<f64> =
        (0..=n * 2 / 5).map(|lag| at_lag(&means, lag) * n as f64 / n.saturating_sub(lag).max(1) as f64).collect();
    let trough = correlation.iter().position(|c| *c < -STRONG / 2.0)?;
    let peak = (trough + 1..correlation.len().saturating_sub(1)).find(|lag| {
        let here = correlation[*lag];
        here >= STRONG && here >= correlation[lag - 1] && here >= correlation[lag + 1]
    })?;
    Some(Period { length_s: peak * GRAIN_S, strength: correlation[peak].min(1.0) })
}

#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Cover {
    pub whole: usize,
    pub from_s: f64,
    pub to_s: f64,
    /// Expected end of the next checkpoint, s; `None` before the second one.
    pub next_s: Option<f64>,
}

/// Whole cycles between `from_s` and `to_s`; a cycle lasts from the end of one checkpoint to the end of the next one.
pub fn cover(ends_s: &[f64], from_s: f64, to_s: f64) -> Cover {
    let mut ends = ends_s.to_vec();
    ends.sort_by(f64::total_cmp);
    let inside: Vec<f64> = ends.iter().copied().filter(|end| (from_s..=to_s).contains(end)).collect();
    let next_s = match ends.as_slice() {
        [first, .., last] => Some(last + (last - first) / (ends.len() - 1) as f64),
        _ => None,
    };
    match inside.as_slice() {
        [first, .., last] => Cover { whole: inside.len() - 1, from_s: *first, to_s: *last, next_s },
        _ => Cover { whole: 0, from_s, to_s, next_s },
    }
}
