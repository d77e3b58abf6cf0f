//! The question about two groups of runs, and the answer.

use mindful_core::record::run::Run;
pub use mindful_core::result::comparison::{Basis, Verdict};
use serde::{Deserialize, Serialize};
use statrs::distribution::{ChiSquared, ContinuousCDF};

use crate::analysis::Analysis;
use crate::stats::interval::{CONFIDENCE, Interval, TAIL};
use crate::stats::moment::{median, sorted, variance};

pub type Side = Vec<(Run, Analysis)>;

#[derive(Debug, Clone, PartialEq)]
pub struct RunValue {
    /// The figure compared, such as operations per second or mean latency in us; above zero.
    pub value: f64,
    /// The same figure second by second over the measured window; may be empty.
    pub series: Vec<f64>,
    /// The machine of the measurement; `None` if unknown: all such runs count as one machine.
    pub machine: Option<String>,
}

impl RunValue {
    pub fn from_value(value: f64) -> Self {
        Self { value, series: Vec::new(), machine: None }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Differences up to this do not matter, as a share: 0.03 for 3 %.
    pub margin: f64,
    /// Whether a higher figure is faster (throughput) or slower (latency).
    pub higher_is_faster: bool,
    /// Variation between runs of one plan on this platform, if it was measured; used for single runs.
    pub noise: Option<NoiseFloor>,
    /// Comparisons that are judged together with this one, itself included: with several, intervals and verdicts of all of
    /// them hold at once (Bonferroni).
    pub family: usize,
    /// Resamples of the bootstrap; 0 leaves the second opinion out.
    pub resamples: usize,
}

impl Default for Question {
    fn default() -> Self {
        Self { margin: 0.03, higher_is_faster: true, noise: None, family: 1, resamples: 10_000 }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    pub verdict: Verdict,
    /// Candidate by baseline: the median over all pairs of runs.
    pub ratio: f64,
    /// Interval of the true ratio; `None` if the data does not bound it.
    pub interval: Option<Interval>,
    pub basis: Basis,
    /// The margin of the question, a share.
    pub margin: f64,
    /// Two-sided p of "the difference is within the margin": a small p supports faster or slower.
    pub p_beyond: Option<f64>,
    /// The second opinion: bootstrap interval of the ratio (BCa).
    pub bootstrap: Option<Interval>,
    /// Cliff's delta: -1 all candidate runs below all baseline runs, +1 all above.
    pub cliffs_delta: f64,
    pub runs_baseline: u32,
    pub runs_candidate: u32,
    /// Smallest difference that so many runs, as variable as these, find in four of five cases, a share.
    pub detectable: Option<f64>,
    /// Runs a side that would decide, in all; `None` if decided, or if the difference is too near the margin for a
    /// practical number.
    pub runs_needed: Option<u32>,
}

/// Variation between runs of one plan on a platform.
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
        let logarithms: Vec<f64> = sorted(values).iter().map(|v| v.ln()).collect();
        let variation = variance(&logarithms)?.sqrt();
        let freedom = (values.len() - 1) as f64;
        let chi = ChiSquared::new(freedom).ok()?;
        let end = |p: f64| variation * (freedom / chi.inverse_cdf(p)).sqrt();
        let center = median(&logarithms)?;
        let worst = logarithms.iter().map(|v| (v - center).abs().exp_m1()).fold(0.0, f64::max);
        let interval = Interval { low: end(1.0 - TAIL), high: end(TAIL), confidence: CONFIDENCE };
        Some(Self { variation, interval, worst, runs: values.len() as u32 })
    }
}

/// Which way a verdict points when the interval lies wholly above (or below) the margin.
pub(super) fn beyond(above: bool, question: &Question) -> Verdict {
    if above == question.higher_is_faster { Verdict::Faster } else { Verdict::Slower }
}
