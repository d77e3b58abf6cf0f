//! A run alone on a side: the variation between runs is not in the data and comes from the platform's noise floor.

use super::answer::{Basis, Comparison, Question, RunValue, Verdict, beyond};
use super::bootstrap::Blocks;
use super::group::{cliffs_delta, logarithms};
use super::power::{detectable_effect, runs_needed};
use super::shift::Shift;
use crate::stats::distribution::{t_quantile, t_two_sided};
use crate::stats::interval::{CONFIDENCE, Interval};
use crate::stats::moment::variance;
use crate::stats::random::Random;

/// Resamples for a standard error: its own error is then below 4 %.
const RESAMPLES: usize = 400;

/// Runs a side to ask for where nothing is known of their variation.
const RUNS_TO_BEGIN_WITH: u32 = 5;

pub(super) fn compare(baseline: &[RunValue], candidate: &[RunValue], question: &Question) -> Comparison {
    let (a, b) = (logarithms(baseline), logarithms(candidate));
    let estimate = Shift::new(&a, &b).estimate();
    let margin = question.margin.ln_1p();
    let noise = question.noise;
    let basis = if noise.is_some() { Basis::NoiseFloor } else { Basis::WithinRun };
    let error = StandardError::from_sides([baseline, candidate], question);
    let variation = noise.map(|floor| floor.variation);
    let test = |threshold: f64| error.map(|e| e.two_sided(threshold));
    let p_beyond = if estimate.abs() > margin { test(estimate.abs() - margin) } else { Some(1.0) };
    let p_equivalent =
        test(margin - estimate.abs()).map(|p| if estimate.abs() < margin { p / 2.0 } else { 1.0 - p / 2.0 });
    let small = |p: Option<f64>| noise.is_some() && p.is_some_and(|p| p <= 1.0 - CONFIDENCE);
    let verdict = if small(p_beyond) {
        beyond(estimate > 0.0, question)
    } else if small(p_equivalent) {
        Verdict::NoMeaningfulDifference
    } else {
        Verdict::NotDecided
    };
    Comparison {
        verdict,
        ratio: estimate.exp(),
        interval: error.map(|e| e.around(estimate)),
        basis,
        margin: question.margin,
        p_difference: test(estimate.abs()),
        p_beyond: error.and(p_beyond),
        p_equivalent,
        bootstrap: None,
        cliffs_delta: cliffs_delta(&a, &b),
        runs_baseline: a.len() as u32,
        runs_candidate: b.len() as u32,
        variation: None,
        detectable: variation.and_then(|v| detectable_effect(v, a.len().min(b.len()) as u32)),
        runs_needed: variation
            .map_or(Some(RUNS_TO_BEGIN_WITH), |v| runs_needed(v, (estimate.abs() - margin).abs()))
            .filter(|_| verdict == Verdict::NotDecided),
    }
}

/// Standard error of the logarithm of the ratio, and how well it is known.
#[derive(Clone, Copy)]
struct StandardError {
    deviation: f64,
    freedom: f64,
}

impl StandardError {
    /// `SE^2 = SE_within^2 + CV^2 / runs` summed over the sides; the freedom is that of the noise floor, by Welch and
    /// Satterthwaite. `None` where neither the seconds of the runs nor a noise floor is known.
    fn from_sides(sides: [&[RunValue]; 2], question: &Question) -> Option<Self> {
        let within: Option<f64> = sides.iter().map(|side| within(side, question.seed)).sum();
        let Some(floor) = question.noise else {
            return within.filter(|w| *w > 0.0).map(|w| Self { deviation: w.sqrt(), freedom: f64::INFINITY });
        };
        let shares: f64 = sides.iter().map(|side| 1.0 / side.len() as f64).sum();
        let between = shares * floor.variation.powi(2);
        let square = within.unwrap_or(0.0) + between;
        let freedom = f64::from(floor.runs.max(2) - 1) * (square / between).powi(2);
        (square > 0.0).then(|| Self { deviation: square.sqrt(), freedom })
    }

    fn around(self, estimate: f64) -> Interval {
        let reach = t_quantile(f64::midpoint(1.0, CONFIDENCE), self.freedom) * self.deviation;
        Interval { low: (estimate - reach).exp(), high: (estimate + reach).exp(), confidence: CONFIDENCE }
    }

    fn two_sided(self, distance: f64) -> f64 {
        t_two_sided(distance / self.deviation, self.freedom)
    }
}

/// Squared standard error of a side's mean from within its runs, relative; `None` where no seconds are known.
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
