//! Comparison of two groups of runs, several machines on a side among them: machines of one type differ, so the unit is
//! the machine and not the run.
//!
//! A run is `type + machine + run`, the machine drawn at random. The estimate of a type is the mean of its machines,
//! and a machine's value is the mean of the logarithms of its runs. The error of that mean is the deviation of the
//! machines by the root of their number, with one degree less than machines. With equally many runs on each machine,
//! this is the exact test of random effects for any two variances. A weighted mean was rejected: with three machines
//! its weights are noise.

use std::collections::BTreeMap;

pub use mindful_core::result::comparison::{MachineSpread, OutlyingMachine};
use mindful_core::{Error, Result};

use super::answer::{Basis, Comparison, Question, RunValue};
use super::student::{self, StandardError};
use crate::stats::distribution::t_quantile;
use crate::stats::moment::{mean, median, pooled_variance, sorted, variance};

/// Share of sides without an outlier for which the farthest machine is still named.
const OUTLIER_LEVEL: f64 = 0.1;

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
    if [baseline, candidate].iter().any(|side| Machines::from_runs(side).means.len() > 1) {
        return Ok(compare(baseline, candidate, question));
    }
    if baseline.len() == 1 || candidate.len() == 1 {
        return Ok(student::compare_single(baseline, candidate, question));
    }
    Ok(student::compare_several(baseline, candidate, question))
}

fn compare(baseline: &[RunValue], candidate: &[RunValue], question: &Question) -> Comparison {
    let (sides, machines) = ([baseline, candidate], [baseline, candidate].map(Machines::from_runs));
    let [from, to] = machines.each_ref().map(|side| mean(&side.values()).unwrap_or(0.0));
    let error = error(&machines);
    // Effect of a further machine on each side, for the advice on the number of machines.
    let fewer = machines.iter().map(|side| side.means.len()).min().unwrap_or(1) as f64;
    let variation = error.deviation * (fewer / 2.0).sqrt();
    let compared = student::compare(sides, question, Basis::Machines, (to - from, Some(error)), Some(variation));
    // Not by the number of runs: more of them on the same machines bring little.
    Comparison { detectable: None, ..compared }
}

/// The error of the difference of two types. The machine of a side that has only one is a draw from as wide a type as the
/// other side shows.
fn error(machines: &[Machines; 2]) -> StandardError {
    let spread = |side: &Machines| variance(&side.values()).map(|square| square.max(side.floor()));
    let count = |side: &Machines| side.means.len() as f64;
    match machines.each_ref().map(spread) {
        [Some(a), Some(b)] => StandardError::from_parts(&[
            (a / count(&machines[0]), count(&machines[0]) - 1.0),
            (b / count(&machines[1]), count(&machines[1]) - 1.0),
        ]),
        [a, b] => {
            let several = usize::from(a.is_none());
            let (square, count) = (a.or(b).unwrap_or(0.0), count(&machines[several]));
            StandardError { deviation: (square * (1.0 + 1.0 / count)).sqrt(), freedom: count - 1.0 }
        }
    }
}

struct Machines {
    /// Name, mean and number of runs of each.
    means: Vec<(String, f64, usize)>,
    /// Variance between runs of one machine; `None` with one run on each.
    within: Option<f64>,
}

impl Machines {
    fn from_runs(side: &[RunValue]) -> Self {
        let known = side.iter().all(|run| run.machine.is_some());
        let mut runs: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
        for run in side {
            let name = run.machine.as_deref().filter(|_| known).unwrap_or_default();
            runs.entry(name).or_default().push(run.value.ln());
        }
        let within = pooled_variance(runs.values().map(Vec::as_slice));
        let mean_of =
            |(name, runs): (&&str, &Vec<f64>)| ((*name).to_owned(), mean(&sorted(runs)).unwrap_or(0.0), runs.len());
        Self { means: runs.iter().map(mean_of).collect(), within }
    }

    fn values(&self) -> Vec<f64> {
        self.means.iter().map(|(_, mean, _)| *mean).collect()
    }

    /// The part of the variance of machine means that variation between runs alone would cause.
    fn floor(&self) -> f64 {
        let shares: f64 = self.means.iter().map(|(_, _, runs)| 1.0 / *runs as f64).sum();
        self.within.unwrap_or(0.0) * shares / self.means.len() as f64
    }

    /// The machine that lies farther from the others than they lie apart (Grubbs 1969), if it matters.
    fn outlier(&self, margin: f64) -> Option<OutlyingMachine> {
        let (values, count) = (self.values(), self.means.len() as f64);
        let (center, spread) = (mean(&values)?, variance(&values)?.sqrt());
        let (name, value, _) =
            self.means.iter().max_by(|a, b| (a.1 - center).abs().total_cmp(&(b.1 - center).abs()))?;
        let t = (self.means.len() > 2).then(|| t_quantile(1.0 - OUTLIER_LEVEL / (2.0 * count), count - 2.0))?;
        let limit = (count - 1.0) / count.sqrt() * (t * t / (count - 2.0 + t * t)).sqrt();
        let others: Vec<f64> = self.means.iter().filter(|other| other.0 != *name).map(|other| other.1).collect();
        let apart = value - median(&others)?;
        ((value - center).abs() > limit * spread && apart.abs() > margin)
            .then(|| OutlyingMachine { machine: name.clone(), by_others: apart.exp() })
    }
}

/// The mean of the logarithms of each machine, or the logarithms of the runs of a single one.
pub(super) fn means(side: &[RunValue]) -> Vec<f64> {
    let machines = Machines::from_runs(side);
    if machines.means.len() > 1 { machines.values() } else { student::logarithms(side) }
}

/// Variation between the machines of a side, and between runs of one machine; `None` with one machine.
pub fn spread(side: &[RunValue], margin: f64) -> Option<MachineSpread> {
    let machines = Machines::from_runs(side);
    let between = variance(&machines.values())? - machines.floor();
    Some(MachineSpread {
        machines: machines.means.len() as u32,
        within: machines.within.map(f64::sqrt),
        between: between.max(0.0).sqrt(),
        outlier: machines.outlier(margin.ln_1p()),
    })
}
