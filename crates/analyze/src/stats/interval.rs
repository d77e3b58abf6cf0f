//! Ranges that contain the true value with a known confidence.

pub use mindful_core::result::comparison::Interval;

/// Confidence of all intervals; its complement is the share of false alarms that is allowed.
pub(crate) const CONFIDENCE: f64 = 0.95;
