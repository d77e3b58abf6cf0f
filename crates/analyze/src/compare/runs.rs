//! Two groups of runs compared by one figure.

use mindful_core::record::run::Run;
use mindful_core::{Error, Result};

use super::answer::{Comparison, Question, RunValue};
use super::{group, machines, single};
use crate::analysis::Analysis;

pub type Side = Vec<(Run, Analysis)>;

/// Compares `candidate` with `baseline`.
///
/// # Errors
/// A side without runs, or a figure that is not a positive number.
pub fn compare_runs(baseline: &[RunValue], candidate: &[RunValue], question: &Question) -> Result<Comparison> {
    for (side, runs) in [("baseline", baseline), ("candidate", candidate)] {
        if runs.is_empty() {
            return Err(Error::plan(format!("the {side} has no run"), "name at least one run a side"));
        }
        if let Some(bad) = runs.iter().find(|run| !(run.value.is_normal() && run.value > 0.0)) {
            return Err(Error::run(
                format!("a run of the {side} has the figure {}, which has no ratio", bad.value),
                "omit that run, or compare another figure",
            ));
        }
    }
    if machines::has_several([baseline, candidate]) {
        return Ok(machines::compare(baseline, candidate, question));
    }
    if baseline.len() == 1 || candidate.len() == 1 {
        return Ok(single::compare(baseline, candidate, question));
    }
    Ok(group::compare(baseline, candidate, question))
}
