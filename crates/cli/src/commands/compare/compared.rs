//! Two sides compared: all figures, before any is printed.

use std::collections::BTreeMap;

use mindful_analyze::StepAnalysis;
use mindful_analyze::compare::comparable::{self, Difference};
use mindful_analyze::compare::{
    self, Comparison, CurveComparison, NoiseFloor, PointComparison, Question, RunLatency, RunValue, idle,
};
use mindful_analyze::knee::{LoadPoint, Search};
use mindful_analyze::stats::{autocorrelation, moment};
use mindful_core::record::run::Run;
use mindful_core::workload::OpKind;
use mindful_core::{Error, Result};
use mindful_record::Store;
use mindful_runner::repetition::{self, Figure, Side};
use mindful_runner::sweep::others;

use super::price;
use super::reported::{KindShifts, Reported};
use super::sides::Sides;
use crate::noise;

/// In what the sides differ that figures depend on.
pub fn differing(sides: &Sides) -> Vec<Difference> {
    comparable::differences(&runs(&sides.baseline), &runs(&sides.candidate))
}

/// Whether another tool measured some of the runs.
pub fn has_old(sides: &Sides) -> bool {
    sides.baseline.iter().chain(&sides.candidate).any(|(run, _)| run.head.imported.is_some())
}

/// What is compared where nobody says: other tools do not tell the operations of their sessions.
pub fn usual(sides: &Sides) -> Figure {
    if has_old(sides) { Figure::Reads } else { Figure::Throughput }
}

/// What is asked of the sides, with the noise floor of their platform.
pub fn question(store: &Store, sides: &Sides, figure: Figure, margin: f64) -> Result<Question> {
    Ok(Question {
        margin,
        higher_is_faster: figure.higher_is_faster(),
        noise: floor(store, &sides.baseline, &sides.candidate)?,
        ..Question::default()
    })
}

/// All that the sides say together.
///
/// # Errors
/// No point that both have, a figure that no ratio can be made of, or prices that cannot be compared.
pub fn against(sides: &Sides, figure: Figure, question: &Question) -> Result<Reported> {
    let Sides { names, baseline, candidate, .. } = sides;
    let prices = price::of_sides(baseline, candidate)?;
    let (points, medians) = point_by_point(figure, baseline, candidate, question)?;
    Ok(Reported {
        figure,
        names: names.clone(),
        points,
        medians,
        latencies: percentiles(baseline, candidate),
        curves: curves(baseline, candidate),
        differing: differing(sides),
        idle_settings: idle::settings(&runs(baseline), &runs(candidate)),
        prices: if figure == Figure::PerPrice || !figure.higher_is_faster() { None } else { prices },
    })
}

/// The noise floor of this platform on the target of the baseline; none where a run was made elsewhere, whatever its
/// target is called.
fn floor(store: &Store, baseline: &Side, candidate: &Side) -> Result<Option<NoiseFloor>> {
    let Some((first, _)) = baseline.first() else { return Ok(None) };
    let elsewhere = baseline.iter().chain(candidate).any(|(run, _)| store.is_imported(&run.head.id));
    if elsewhere {
        return Ok(None);
    }
    // As it stands in the store: a run that is reported without names has another one.
    noise::of(store, &store.head(&first.head.id)?.target)
}

fn runs(side: &Side) -> Vec<Run> {
    side.iter().map(|(run, _)| run.clone()).collect()
}

/// One comparison for each point that both sides have, and the medians of the sides there; a plain run has one.
fn point_by_point(
    figure: Figure,
    baseline: &Side,
    candidate: &Side,
    question: &Question,
) -> Result<(Vec<PointComparison>, Vec<[f64; 2]>)> {
    let (mut points, mut medians) = (Vec::new(), Vec::new());
    for values in points_of(baseline) {
        let at = |side: &Side| -> Vec<RunValue> {
            let steps = side.iter().flat_map(|(run, analysis)| run.steps.iter().zip(&analysis.steps));
            let alike = |step: &StepAnalysis| {
                let point = &step.summary.point;
                point.values == values && !point.drift_check
            };
            steps
                .filter(|(_, judged)| alike(judged))
                .filter_map(|(step, judged)| repetition::value(figure, judged, step))
                .collect()
        };
        let (a, b) = (at(baseline), at(candidate));
        if a.is_empty() || b.is_empty() {
            continue;
        }
        let load = values.get("sessions").and_then(|n| n.parse().ok()).unwrap_or(points.len() as f64);
        points.push((load, compare::runs(&a, &b, question)?));
        medians.push((load, [&a, &b].map(|side| median_of(side))));
    }
    if points.is_empty() {
        return Err(Error::run("no point has a figure on both sides", "compare runs of the same plan or sweep"));
    }
    // In the order in which points are reported.
    medians.sort_by(|one, other| one.0.total_cmp(&other.0));
    let points = if points.len() == 1 { points.into_iter().map(alone).collect() } else { compare::points(points) };
    Ok((points, medians.into_iter().map(|(_, medians)| medians).collect()))
}

fn median_of(runs: &[RunValue]) -> f64 {
    moment::median(&runs.iter().map(|run| run.value).collect::<Vec<_>>()).unwrap_or(f64::NAN)
}

fn alone((load, comparison): (f64, Comparison)) -> PointComparison {
    PointComparison { load, comparison, p_adjusted: None }
}

fn points_of(side: &Side) -> Vec<BTreeMap<String, String>> {
    let mut points = Vec::new();
    for step in side.iter().flat_map(|(_, analysis)| &analysis.summary.steps) {
        if !points.contains(&step.point.values) {
            points.push(step.point.values.clone());
        }
    }
    points
}

/// The percentiles of each kind of operation at each point that both sides have, the kinds in their order.
fn percentiles(baseline: &Side, candidate: &Side) -> Vec<KindShifts> {
    let mut reported = Vec::new();
    for values in points_of(baseline) {
        for kind in OpKind::ALL {
            let shifts =
                compare::percentile_shifts(&latencies(baseline, &values, kind), &latencies(candidate, &values, kind));
            if !shifts.is_empty() {
                reported.push(KindShifts { at: values.clone(), kind: kind.name(), shifts });
            }
        }
    }
    reported
}

fn latencies<'a>(side: &'a Side, values: &BTreeMap<String, String>, kind: OpKind) -> Vec<RunLatency<'a>> {
    let steps = side.iter().flat_map(|(run, analysis)| run.steps.iter().zip(&analysis.steps));
    steps
        .filter(|(_, step)| step.summary.point.values == *values && !step.summary.point.drift_check)
        .filter_map(|(record, step)| {
            let work = step.work.as_ref()?.kind(kind);
            let histogram = work.response.as_ref().unwrap_or(&work.service);
            let tau = autocorrelation::time(&repetition::per_slice(record));
            (work.ops > 0.0).then_some(RunLatency { histogram, tau })
        })
        .collect()
}

/// The curves over sessions that both sides have with enough points for a fit, by the other values of their points.
fn curves(baseline: &Side, candidate: &Side) -> Vec<(BTreeMap<String, String>, CurveComparison)> {
    let (a, b) = (loads(baseline), loads(candidate));
    let both = a.into_iter().filter_map(|(values, points)| {
        let reported = compare::curves(&points, b.get(&values)?, &Search::default()).ok()?;
        Some((values, reported))
    });
    both.collect()
}

fn loads(side: &Side) -> BTreeMap<BTreeMap<String, String>, Vec<LoadPoint>> {
    let mut ladders: BTreeMap<_, Vec<LoadPoint>> = BTreeMap::new();
    for step in side.iter().flat_map(|(_, analysis)| &analysis.summary.steps) {
        if step.point.values.contains_key("sessions") {
            ladders.entry(others(&step.point)).or_default().extend(mindful_analyze::curve::point(step));
        }
    }
    ladders
}
