//! Comparisons of two groups of runs: by the exact test where each has several, and by Student's t, from an estimate on
//! logarithms and its standard error with degrees of freedom.

use super::answer::{Basis, Comparison, Question, RunValue, Verdict, beyond};
use super::bootstrap::{Blocks, SEED, ratio_bca};
use super::power::{detectable_effect, runs_needed};
use super::shift::Shift;
use crate::stats::distribution::{t_quantile, t_two_sided};
use crate::stats::interval::{CONFIDENCE, Interval};
use crate::stats::moment::{mean, sorted, variance};
use crate::stats::random::Random;
use crate::stats::rank_sum::wins;

/// Resamples for a standard error, so that its own error is below 4 %.
const RESAMPLES: usize = 400;

/// Recommended runs a side if their variation is unknown.
const RUNS_TO_BEGIN_WITH: u32 = 5;

/// Standard error of the logarithm of a ratio, with its degrees of freedom.
#[derive(Debug, Clone, Copy)]
pub(super) struct StandardError {
    pub(super) deviation: f64,
    pub(super) freedom: f64,
}

impl StandardError {
    /// The error of a sum of independent parts, each a squared error with its degrees of freedom (Satterthwaite 1946).
    pub(super) fn from_parts(parts: &[(f64, f64)]) -> Self {
        let square: f64 = parts.iter().map(|(square, _)| square).sum();
        let weights: f64 = parts.iter().map(|(square, freedom)| square * square / freedom).sum();
        let all: f64 = parts.iter().map(|(_, freedom)| freedom).sum();
        let freedom = if weights > 0.0 { square * square / weights } else { all };
        Self { deviation: square.sqrt(), freedom }
    }

    /// Of the difference of two groups that may vary unequally (Welch 1947); both with at least two values.
    pub(super) fn welch(groups: [&[f64]; 2]) -> Self {
        Self::from_parts(&groups.map(|group| {
            let count = group.len() as f64;
            (variance(group).unwrap_or(0.0) / count, count - 1.0)
        }))
    }

    /// The interval around `estimate` as one of `family` intervals that all hold together with the usual confidence.
    pub(super) fn around(self, estimate: f64, family: usize) -> Interval {
        let tail = (1.0 - CONFIDENCE) / (2.0 * family as f64);
        let reach = t_quantile(1.0 - tail, self.freedom) * self.deviation;
        Interval { low: (estimate - reach).exp(), high: (estimate + reach).exp(), confidence: CONFIDENCE }
    }

    /// Two-sided p of a distance from 0.
    pub(super) fn two_sided(self, distance: f64) -> f64 {
        if distance == 0.0 { 1.0 } else { t_two_sided(distance / self.deviation, self.freedom) }
    }

    /// Two-sided p of "`estimate` lies within `margin` of 0".
    pub(super) fn beyond(self, estimate: f64, margin: f64) -> f64 {
        if estimate.abs() > margin { self.two_sided(estimate.abs() - margin) } else { 1.0 }
    }
}

/// A comparison with `estimate` and its `error`; undecided without `variation` between runs.
pub(super) fn compare(
    [baseline, candidate]: [&[RunValue]; 2],
    question: &Question,
    basis: Basis,
    (estimate, error): (f64, Option<StandardError>),
    variation: Option<f64>,
) -> Comparison {
    let (a, b) = (logarithms(baseline), logarithms(candidate));
    let (margin, family) = (question.margin.ln_1p(), question.family);
    let p_beyond = error.map(|e| (e.beyond(estimate, margin) * family as f64).min(1.0));
    let p_equivalent = error.map(|e| {
        let p = e.two_sided(margin - estimate.abs());
        if estimate.abs() < margin { p / 2.0 } else { 1.0 - p / 2.0 }
    });
    let small = |p: Option<f64>| variation.is_some() && p.is_some_and(|p| p <= 1.0 - CONFIDENCE);
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
        interval: error.map(|e| e.around(estimate, family)),
        basis,
        margin: question.margin,
        p_beyond,
        bootstrap: None,
        cliffs_delta: cliffs_delta(&a, &b),
        runs_baseline: a.len() as u32,
        runs_candidate: b.len() as u32,
        detectable: variation.and_then(|v| detectable_effect(v, a.len().min(b.len()) as u32)),
        runs_needed: variation
            .map_or(Some(RUNS_TO_BEGIN_WITH), |v| runs_needed(v, (estimate.abs() - margin).abs()))
            .filter(|_| verdict == Verdict::NotDecided),
    }
}

/// Compares sides that have several runs each.
pub(super) fn compare_several(baseline: &[RunValue], candidate: &[RunValue], question: &Question) -> Comparison {
    let (a, b) = (logarithms(baseline), logarithms(candidate));
    let shift = Shift::new(&a, &b);
    let margin = question.margin.ln_1p();
    let exact = shift.interval(CONFIDENCE).map(f64::exp);
    let exact_p = (2.0 * shift.p_above(margin).min(shift.p_below(-margin))).min(1.0);
    let (interval, p_beyond) = match question.family {
        1 => (exact, exact_p),
        family => among_others([&a, &b], margin, family, (exact, exact_p)),
    };
    let p_equivalent = shift.p_above(-margin).max(shift.p_below(margin));
    // The smallest p of three runs a side is 0.05 in all digits but the last.
    let allowed = (1.0 - CONFIDENCE) * (1.0 + 1e-9);
    let verdict = if p_beyond <= allowed {
        beyond(shift.estimate() > 0.0, question)
    } else if p_equivalent <= allowed {
        Verdict::NoMeaningfulDifference
    } else {
        Verdict::NotDecided
    };
    // A ranking has the runs it takes for all of its sides together.
    let alone = question.family == 1;
    let variation = pooled_variation(&a, &b);
    let fewer = a.len().min(b.len()) as u32;
    let distance = (shift.estimate().abs() - margin).abs();
    Comparison {
        verdict,
        ratio: shift.estimate().exp(),
        interval: Some(interval),
        basis: Basis::Runs,
        margin: question.margin,
        p_beyond: Some(p_beyond),
        bootstrap: ratio_bca(baseline, candidate, question.resamples),
        cliffs_delta: cliffs_delta(&a, &b),
        runs_baseline: a.len() as u32,
        runs_candidate: b.len() as u32,
        detectable: if alone { detectable_effect(variation, fewer) } else { None },
        runs_needed: (alone && verdict == Verdict::NotDecided)
            .then(|| runs_needed(variation, distance))
            .flatten()
            .map(|needed| needed.max(fewer + 1)),
    }
}

/// The interval and the p of one of `family` comparisons. Few runs have no exact interval of so high a confidence, so
/// Welch's interval is used. Both must lie beyond the margin: sides that do not differ in a single comparison then do
/// not differ here.
fn among_others([a, b]: [&[f64]; 2], margin: f64, family: usize, (exact, exact_p): (Interval, f64)) -> (Interval, f64) {
    let estimate = mean(b).unwrap_or(0.0) - mean(a).unwrap_or(0.0);
    let error = StandardError::welch([a, b]);
    let together = error.around(estimate, family);
    let p = (error.beyond(estimate, margin) * family as f64).min(1.0);
    let confidence = exact.confidence.min(CONFIDENCE);
    let both = Interval { low: together.low.min(exact.low), high: together.high.max(exact.high), confidence };
    (both, p.max(exact_p))
}

/// Standard deviation of the logarithms within the sides, which is the relative one of the figures.
fn pooled_variation(a: &[f64], b: &[f64]) -> f64 {
    let squares = |side: &[f64]| variance(side).unwrap_or(0.0) * (side.len() - 1) as f64;
    ((squares(a) + squares(b)) / (a.len() + b.len() - 2) as f64).sqrt()
}

/// Compares two sides if one of them has a single run. The data does not contain the variation between runs, so it comes
/// from the platform's noise floor.
pub(super) fn compare_single(baseline: &[RunValue], candidate: &[RunValue], question: &Question) -> Comparison {
    let estimate = Shift::new(&logarithms(baseline), &logarithms(candidate)).estimate();
    let basis = if question.noise.is_some() { Basis::NoiseFloor } else { Basis::WithinRun };
    let (sides, variation) = ([baseline, candidate], question.noise.map(|floor| floor.variation));
    compare(sides, question, basis, (estimate, error(sides, question)), variation)
}

/// `SE^2 = SE_within^2 + CV^2 / runs` summed over the sides; degrees of freedom come from the noise floor, by Welch and
/// Satterthwaite. `None` without seconds of the runs and without a noise floor.
fn error(sides: [&[RunValue]; 2], question: &Question) -> Option<StandardError> {
    let within: Option<f64> = sides.iter().map(|side| within(side)).sum();
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
fn within(side: &[RunValue]) -> Option<f64> {
    let squares: Option<Vec<f64>> = side
        .iter()
        .map(|run| {
            let blocks = Blocks::new(&run.series)?;
            let mut random = Random::new(SEED, "moving blocks within a run");
            let draws: Vec<f64> = (0..RESAMPLES).map(|_| blocks.draw(&mut random)).collect();
            variance(&draws)
        })
        .collect();
    squares.map(|s| sorted(&s).iter().sum::<f64>() / (side.len() * side.len()) as f64)
}

/// Share of pairs in which the candidate is larger, minus the share in which it is smaller (Cliff 1993).
pub(crate) fn cliffs_delta(baseline: &[f64], candidate: &[f64]) -> f64 {
    let pairs = (baseline.len() * candidate.len()) as f64;
    if pairs > 0.0 { 2.0 * wins(baseline, candidate) / pairs - 1.0 } else { 0.0 }
}

/// Logarithms in rising order: nothing after this depends on the order of runs.
pub(super) fn logarithms(runs: &[RunValue]) -> Vec<f64> {
    let mut logarithms: Vec<f64> = runs.iter().map(|run| run.value.ln()).collect();
    logarithms.sort_by(f64::total_cmp);
    logarithms
}
