//! Several runs a side.

use super::answer::{Basis, Comparison, Question, RunValue, Verdict, beyond};
use super::bootstrap;
use super::power::{detectable_effect, runs_needed};
use super::shift::Shift;
use crate::stats::interval::CONFIDENCE;
use crate::stats::moment::variance;
use crate::stats::rank_sum::wins;

pub(super) fn compare(baseline: &[RunValue], candidate: &[RunValue], question: &Question) -> Comparison {
    let (a, b) = (logarithms(baseline), logarithms(candidate));
    let shift = Shift::new(&a, &b);
    let interval = shift.interval(CONFIDENCE);
    let margin = question.margin.ln_1p();
    let p_beyond = (2.0 * shift.p_above(margin).min(shift.p_below(-margin))).min(1.0);
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
    let variation = pooled_variation(&a, &b);
    let fewer = a.len().min(b.len()) as u32;
    let distance = (shift.estimate().abs() - margin).abs();
    Comparison {
        verdict,
        ratio: shift.estimate().exp(),
        interval: Some(interval.map(f64::exp)),
        basis: Basis::Runs,
        margin: question.margin,
        p_difference: Some(shift.p_difference()),
        p_beyond: Some(p_beyond),
        p_equivalent: Some(p_equivalent),
        bootstrap: bootstrap::ratio_bca(baseline, candidate, question.resamples, question.seed),
        cliffs_delta: cliffs_delta(&a, &b),
        runs_baseline: a.len() as u32,
        runs_candidate: b.len() as u32,
        variation: Some(variation),
        detectable: detectable_effect(variation, fewer),
        runs_needed: runs_needed(variation, distance)
            .filter(|_| verdict == Verdict::NotDecided)
            .map(|needed| needed.max(fewer + 1)),
    }
}

/// Share of pairs in which the candidate is larger, minus the share in which it is smaller (Cliff 1993).
pub fn cliffs_delta(baseline: &[f64], candidate: &[f64]) -> f64 {
    let pairs = (baseline.len() * candidate.len()) as f64;
    if pairs > 0.0 { 2.0 * wins(baseline, candidate) / pairs - 1.0 } else { 0.0 }
}

/// Logarithms in rising order: nothing after this depends on the order of runs.
pub(super) fn logarithms(runs: &[RunValue]) -> Vec<f64> {
    let mut logarithms: Vec<f64> = runs.iter().map(|run| run.value.ln()).collect();
    logarithms.sort_by(f64::total_cmp);
    logarithms
}

/// Standard deviation of the logarithms within the sides, which is the relative one of the figures.
fn pooled_variation(a: &[f64], b: &[f64]) -> f64 {
    let squares = |side: &[f64]| variance(side).unwrap_or(0.0) * (side.len() - 1) as f64;
    ((squares(a) + squares(b)) / (a.len() + b.len() - 2) as f64).sqrt()
}
