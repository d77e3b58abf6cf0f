//! Variation between runs of one plan on a platform.

use serde::{Deserialize, Serialize};
use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::stats::interval::{CONFIDENCE, Interval};
use crate::stats::moment::{median, variance};

#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct NoiseFloor {
    /// Relative standard deviation between runs.
    pub variation: f64,
    /// Where the true one lies, by chi-square.
    pub interval: Interval,
    /// Largest distance of a run from the median run, as a share.
    pub worst: f64,
    pub runs: u32,
}

impl NoiseFloor {
    /// The spread of `values`, one a run; `None` below two runs or if one is not above zero.
    pub fn from_values(values: &[f64]) -> Option<Self> {
        if values.iter().any(|v| !(v.is_normal() && *v > 0.0)) {
            return None;
        }
        let logarithms: Vec<f64> = crate::stats::moment::sorted(values).iter().map(|v| v.ln()).collect();
        let variation = variance(&logarithms)?.sqrt();
        let freedom = (values.len() - 1) as f64;
        let chi = ChiSquared::new(freedom).ok()?;
        let tail = (1.0 - CONFIDENCE) / 2.0;
        let end = |p: f64| variation * (freedom / chi.inverse_cdf(p)).sqrt();
        let center = median(&logarithms)?;
        let worst = logarithms.iter().map(|v| (v - center).abs().exp_m1()).fold(0.0, f64::max);
        let interval = Interval { low: end(1.0 - tail), high: end(tail), confidence: CONFIDENCE };
        Some(Self { variation, interval, worst, runs: values.len() as u32 })
    }
}
