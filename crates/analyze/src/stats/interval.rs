//! Ranges that contain the true value with a known confidence.

pub use mindful_core::result::comparison::Interval;

use super::moment::{quantile, sorted};

/// Confidence of all intervals; its complement is the share of false alarms that is allowed.
pub(crate) const CONFIDENCE: f64 = 0.95;

/// Probability beyond either end of an interval.
pub(crate) const TAIL: f64 = (1.0 - CONFIDENCE) / 2.0;

/// The interval of a figure by its values in resamples; `None` with too few of them.
pub(crate) fn of_resamples(values: &[f64]) -> Option<Interval> {
    let rising = sorted(values);
    let end = |p: f64| quantile(&rising, p).filter(|_| rising.len() >= 100);
    Some(Interval { low: end(TAIL)?, high: end(1.0 - TAIL)?, confidence: CONFIDENCE })
}
