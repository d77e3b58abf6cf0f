//! A single run on a side: the data does not contain the variation between runs, so it comes from the platform's noise
//! floor.

use super::answer::{Basis, Comparison, Question, RunValue};
use super::bootstrap::Blocks;
use super::group::logarithms;
use super::shift::Shift;
use super::student::{self, StandardError};
use crate::stats::moment::variance;
use crate::stats::random::Random;

/// Resamples for a standard error, so that its own error is below 4 %.
const RESAMPLES: usize = 400;

pub(super) fn compare(baseline: &[RunValue], candidate: &[RunValue], question: &Question) -> Comparison {
    let estimate = Shift::new(&logarithms(baseline), &logarithms(candidate)).estimate();
    let basis = if question.noise.is_some() { Basis::NoiseFloor } else { Basis::WithinRun };
    let (sides, variation) = ([baseline, candidate], question.noise.map(|floor| floor.variation));
    student::compare(sides, question, basis, (estimate, error(sides, question)), variation)
}

/// `SE^2 = SE_within^2 + CV^2 / runs` summed over the sides; degrees of freedom come from the noise floor, by Welch and
/// Satterthwaite. `None` without seconds of the runs and without a noise floor.
fn error(sides: [&[RunValue]; 2], question: &Question) -> Option<StandardError> {
    let within: Option<f64> = sides.iter().map(|side| within(side, question.seed)).sum();
    let Some(floor) = question.noise else {
        let known = within.filter(|square| *square > 0.0);
        return known.map(|square| StandardError { deviation: square.sqrt(), freedom: f64::INFINITY });
    };
    let shares: f64 = sides.iter().map(|side| 1.0 / side.len() as f64).sum();
    let between = shares * floor.variation.powi(2);
    let square = within.unwrap_or(0.0) + between;
    let freedom = f64::from(floor.runs.max(2) - 1) * (square / between).powi(2);
    (square > 0.0).then(|| StandardError { deviation: square.sqrt(), freedom })
}

/// Squared standard error of a side's mean from within its runs, relative; `None` without seconds.
fn within(side: &[RunValue], seed: u64) -> Option<f64> {
    let squares: Option<Vec<f64>> = side
        .iter()
        .map(|run| {
            let blocks = Blocks::new(&run.series)?;
            let mut random = Random::new(seed, "moving blocks within a run");
            let draws: Vec<f64> = (0..RESAMPLES).map(|_| blocks.draw(&mut random)).collect();
            variance(&draws)
        })
        .collect();
    squares.map(|s| crate::stats::moment::sorted(&s).iter().sum::<f64>() / (side.len() * side.len()) as f64)
}
