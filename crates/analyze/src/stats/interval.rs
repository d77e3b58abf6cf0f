//! Ranges that hold the truth with a known confidence.

use serde::{Deserialize, Serialize};

/// Confidence of all intervals; their complement is the share of false alarms that is allowed.
pub const CONFIDENCE: f64 = 0.95;

/// A range and how sure it is.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Probability that such an interval holds the truth, 0 to 1.
    pub confidence: f64,
}

impl Interval {
    /// The same with `f` on both ends.
    #[must_use]
    pub fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self { low: f(self.low), high: f(self.high), confidence: self.confidence }
    }
}
