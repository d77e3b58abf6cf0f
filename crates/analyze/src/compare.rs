//! Is B really faster than A? The unit is the run, the answer a ratio with an interval, and a verdict with a margin.
//!
//! Ratios are candidate by baseline and everything is computed on logarithms, so that swapping the sides turns a ratio
//! of 1.25 into exactly 1/1.25, and a margin of 3 % reaches from 1/1.03 to 1.03.

mod answer;
mod bootstrap;
pub mod comparable;
mod curve;
mod group;
mod history;
pub mod idle;
mod noise;
mod percentile;
mod power;
mod shift;
mod single;
mod sweep;

use mindful_core::{Error, Result};

pub use answer::{Basis, Comparison, Question, RunValue, Verdict};
pub use bootstrap::ratio_bca;
pub use curve::{CurveComparison, Ratio, curves};
pub use group::cliffs_delta;
pub use history::{FEWEST_OF_A_HISTORY, LevelChange, level_changes};
pub use noise::NoiseFloor;
pub use percentile::{PERCENTILES, PercentileShift, RunLatency, percentile_shifts};
pub use power::{can_tell, detectable_effect, runs_needed, runs_to_tell};
pub use shift::Shift;
pub use sweep::{PointComparison, holm, points};

pub use crate::stats::interval::{CONFIDENCE, Interval};

/// Compares `candidate` with `baseline`.
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
