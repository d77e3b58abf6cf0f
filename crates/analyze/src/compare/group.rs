//! Several runs a side.

use super::answer::{Basis, Comparison, Question, RunValue, Verdict, beyond};
use super::bootstrap;
use super::power::{detectable_effect, runs_needed};
use super::shift::Shift;
use super::student::StandardError;
pub(crate) use super::student::cliffs_delta;
pub(super) use super::student::logarithms;
use crate::stats::interval::{CONFIDENCE, Interval};
use crate::stats::moment::{mean, variance};

pub(super) fn compare(baseline: &[RunValue], candidate: &[RunValue], question: &Question) -> Comparison {
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
        bootstrap: bootstrap::ratio_bca(baseline, candidate, question.resamples),
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
