//! The question about two groups of runs, and the answer.

pub use mindful_core::result::comparison::{Basis, Verdict};

use super::noise::NoiseFloor;
use crate::stats::interval::Interval;

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
    pub seed: u64,
}

impl Default for Question {
    fn default() -> Self {
        Self { margin: 0.03, higher_is_faster: true, noise: None, family: 1, resamples: 10_000, seed: 1 }
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
    /// Two-sided p of "no difference".
    pub p_difference: Option<f64>,
    /// Two-sided p of "the difference is within the margin": a small p supports faster or slower.
    pub p_beyond: Option<f64>,
    /// p of "the difference is beyond the margin" (two one-sided tests): a small p supports no meaningful difference.
    pub p_equivalent: Option<f64>,
    /// The second opinion: bootstrap interval of the ratio (BCa).
    pub bootstrap: Option<Interval>,
    /// Cliff's delta: -1 all candidate runs below all baseline runs, +1 all above.
    pub cliffs_delta: f64,
    pub runs_baseline: u32,
    pub runs_candidate: u32,
    /// Relative standard deviation between runs, pooled over the sides; `None` with single runs.
    pub variation: Option<f64>,
    /// Smallest difference that so many runs of this variation find in four of five cases, a share.
    pub detectable: Option<f64>,
    /// Runs a side that would decide, in all; `None` if decided, or if the difference is too near the margin for a
    /// practical number.
    pub runs_needed: Option<u32>,
}

/// Which way a verdict points when the interval lies wholly above (or below) the margin.
pub(super) fn beyond(above: bool, question: &Question) -> Verdict {
    if above == question.higher_is_faster { Verdict::Faster } else { Verdict::Slower }
}
