//! Is B really faster than A? The unit is the run, the answer a ratio with an interval, and a verdict with a margin.
//!
//! Ratios are candidate by baseline and everything is computed on logarithms, so that swapping the sides turns a ratio
//! of 1.25 into exactly 1/1.25, and a margin of 3 % reaches from 1/1.03 to 1.03.

mod bootstrap;
pub mod comparable;
mod curve;
mod group;
mod history;
mod noise;
mod percentile;
mod power;
mod shift;
mod single;
mod sweep;

use mindful_core::{Error, Result};
use serde::{Deserialize, Serialize};

pub use bootstrap::ratio_bca;
pub use curve::{CurveComparison, Ratio, curves};
pub use group::cliffs_delta;
pub use history::{LevelChange, level_changes};
pub use noise::NoiseFloor;
pub use percentile::{PERCENTILES, PercentileShift, RunLatency, percentile_shifts};
pub use power::{detectable_effect, runs_needed};
pub use shift::Shift;
pub use sweep::{PointComparison, holm, points};

pub use crate::stats::interval::{CONFIDENCE, Interval};

/// One run, as a comparison sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct RunValue {
    /// The figure compared, such as operations per second or mean latency in us; above zero.
    pub value: f64,
    /// The same figure second by second over the measured window; may be empty.
    pub series: Vec<f64>,
}

impl RunValue {
    /// A run known by its one figure.
    pub fn of(value: f64) -> Self {
        Self { value, series: Vec::new() }
    }
}

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// Differences up to this do not matter, as a share: 0.03 for 3 %.
    pub margin: f64,
    /// Whether a higher figure is faster (throughput) or slower (latency).
    pub higher_is_faster: bool,
    /// How much runs of one plan differ on this platform, where it was measured; serves single runs.
    pub noise: Option<NoiseFloor>,
    /// Resamples of the bootstrap; 0 leaves the second opinion out.
    pub resamples: usize,
    /// Seed of the resampling.
    pub seed: u64,
}

impl Default for Question {
    fn default() -> Self {
        Self { margin: 0.03, higher_is_faster: true, noise: None, resamples: 10_000, seed: 1 }
    }
}

/// The answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The candidate is faster by more than the margin.
    Faster,
    /// The candidate is slower by more than the margin.
    Slower,
    /// The difference is within the margin.
    NoMeaningfulDifference,
    /// The runs at hand do not tell.
    NotDecided,
}

/// What an interval rests on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Several runs a side: the interval holds the variation between runs.
    Runs,
    /// A run alone on a side, widened by the platform's noise floor.
    NoiseFloor,
    /// A run alone on a side, and no noise floor known: only the variation within the run.
    WithinRun,
}

/// Two groups of runs compared with each other.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Comparison {
    /// The answer.
    pub verdict: Verdict,
    /// Candidate by baseline: the median over all pairs of runs.
    pub ratio: f64,
    /// Where the true ratio lies; `None` where nothing at hand tells.
    pub interval: Option<Interval>,
    /// What the interval rests on.
    pub basis: Basis,
    /// The margin of the question, a share.
    pub margin: f64,
    /// Two-sided p of "no difference at all".
    pub p_difference: Option<f64>,
    /// Two-sided p of "the difference is within the margin": small speaks for faster or slower.
    pub p_beyond: Option<f64>,
    /// p of "the difference is beyond the margin" (two one-sided tests): small speaks for no meaningful difference.
    pub p_equivalent: Option<f64>,
    /// The second opinion: bootstrap interval of the ratio (BCa).
    pub bootstrap: Option<Interval>,
    /// Cliff's delta: -1 all candidate runs below all baseline runs, +1 all above.
    pub cliffs_delta: f64,
    /// Runs of the baseline.
    pub runs_baseline: u32,
    /// Runs of the candidate.
    pub runs_candidate: u32,
    /// Relative standard deviation between runs, pooled over the sides; `None` with single runs.
    pub variation: Option<f64>,
    /// Smallest difference that so many runs of this variation find in four of five cases, a share.
    pub detectable: Option<f64>,
    /// Runs a side that would decide, in all; `None` when decided, or when the difference lies so near the margin that
    /// no sensible number does.
    pub runs_needed: Option<u32>,
}

/// Holds `candidate` against `baseline`.
///
/// # Errors
/// A side without runs, or a figure that is not a positive number.
pub fn runs(baseline: &[RunValue], candidate: &[RunValue], question: &Question) -> Result<Comparison> {
    for (side, runs) in [("baseline", baseline), ("candidate", candidate)] {
        if runs.is_empty() {
            return Err(Error::plan(format!("the {side} has no run"), "name at least one run a side"));
        }
        if let Some(bad) = runs.iter().find(|run| !(run.value.is_normal() && run.value > 0.0)) {
            return Err(Error::run(
                format!("a run of the {side} has {} as its figure, no ratio can be made of it", bad.value),
                "leave that run out, or compare another figure",
            ));
        }
    }
    if baseline.len() == 1 || candidate.len() == 1 {
        return Ok(single::compare(baseline, candidate, question));
    }
    Ok(group::compare(baseline, candidate, question))
}

/// Which way a verdict points when the interval lies wholly above (or below) the margin.
fn beyond(above: bool, question: &Question) -> Verdict {
    if above == question.higher_is_faster { Verdict::Faster } else { Verdict::Slower }
}
