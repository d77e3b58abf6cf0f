//! `mindful compare`: is the candidate really faster than the baseline?

mod gate;
mod history;
mod price;
mod reported;
mod sides;
mod text;

use std::collections::BTreeMap;

use clap::ArgMatches;
use mindful_analyze::compare::comparable::{self, Difference};
use mindful_analyze::compare::{
    self, Comparison, CurveComparison, NoiseFloor, PointComparison, Question, RunLatency, RunValue, Verdict, idle,
};
use mindful_analyze::knee::{LoadPoint, Search};
use mindful_analyze::stats::{autocorrelation, moment};
use mindful_core::run::Run;
use mindful_core::units::Share;
use mindful_core::workload::OpKind;
use mindful_core::{Error, Result};
use mindful_record::Store;
use mindful_runner::repetition::{self, Figure, Side};
use mindful_runner::sweep::others;
use serde_json::{Value, json};

use crate::exit::Exit;
use crate::{context, noise, store};
use gate::{Gate, Outcome};
use history::History;
use reported::{KindShifts, Reported};
use sides::Sides;

/// Holds two groups of runs against each other; makes the runs first when plans are given.
pub fn compare(matches: &ArgMatches) -> Result<Exit> {
    let store = store::open(matches)?;
    let figure = matches.get_one::<String>("figure").map(|text| Figure::parse(text)).transpose()?;
    let undecided = matches.get_one::<String>("undecided").map(String::as_str);
    let gate = matches.get_one::<String>("fail_if").map(|text| Gate::parse(text, undecided)).transpose()?;
    let margin = matches.get_one::<String>("margin").map(|text| Share::parse(text)).transpose()?;
    let allowed = gate.as_ref().map_or_else(|| margin.map_or(0.03, |m| m.percent() / 100.0), |gate| gate.margin);
    if matches.contains_id("history") {
        return history(matches, figure.unwrap_or(Figure::Throughput), allowed, gate.as_ref());
    }
    let Sides { names, baseline, candidate, planned } = sides::of_both(matches, gate.as_ref(), &store)?;
    if !matches.get_flag("force") {
        sides::refuse_invalid(&baseline, &candidate)?;
    }
    let differing = comparable::differences(&runs(&baseline), &runs(&candidate));
    // Plans that are run against each other differ on purpose.
    let old = [&baseline, &candidate].into_iter().flatten().any(|(run, _)| run.head.imported.is_some());
    // Other tools do not tell the operations of their sessions.
    let figure = figure.unwrap_or(if old { Figure::Reads } else { Figure::Throughput });
    // What another tool measured is never alike: in what, is reported beside the verdict.
    if !planned && !old && !differing.is_empty() && !matches.get_flag("force") {
        return Err(not_comparable(&differing));
    }
    let prices = price::of_sides(&baseline, &candidate)?;
    let question = Question {
        margin: allowed,
        higher_is_faster: figure.higher_is_faster(),
        noise: floor(&store, &baseline, &candidate)?,
        ..Question::default()
    };
    let (points, medians) = point_by_point(figure, &baseline, &candidate, &question)?;
    if let Some(gate) = &gate {
        for point in &points {
            let (a, b) = (point.comparison.runs_baseline as usize, point.comparison.runs_candidate as usize);
            gate.refuse_too_few(a, b, points.len(), question.noise.is_some())?;
        }
    }
    let reported = Reported {
        figure,
        names,
        points: &points,
        medians,
        latencies: percentiles(&baseline, &candidate),
        curves: curves(&baseline, &candidate),
        differing: &differing,
        idle_settings: idle::settings(&runs(&baseline), &runs(&candidate)),
        prices: if figure == Figure::PerPrice || !figure.higher_is_faster() { None } else { prices },
    };
    let outcome = gate.as_ref().map(|gate| (gate, gate.of(&points)));
    let wants_json = context::wants_json(matches);
    let text = if wants_json {
        let mut all = as_json(&reported, &baseline, &candidate);
        if let Some((gate, outcome)) = outcome {
            all["gate"] = gate.json(outcome);
        }
        format!("{all:#}\n")
    } else {
        let runs = baseline.iter().chain(&candidate).map(|(run, _)| run);
        context::found_plans(runs) + &text::report(&reported, &baseline, &candidate)
    };
    context::print(&text)?;
    outcome.map_or(Ok(Exit::Ok), |(gate, outcome)| gate.conclude(outcome, wants_json))
}

/// The changes of level in a series of runs; a gate is crossed when the last level lies beyond it.
fn history(matches: &ArgMatches, figure: Figure, margin: f64, gate: Option<&Gate>) -> Result<Exit> {
    let (runs, force) = (sides::named(matches, "history", &store::open(matches)?)?, matches.get_flag("force"));
    if !force {
        sides::refuse_invalid(&runs, &Side::new())?;
    }
    let plans = context::found_plans(runs.iter().map(|(run, _)| run));
    if let Some(gate) = gate {
        gate.refuse_short_history(runs.len())?;
    }
    let history = History::of(runs, figure, margin, force)?;
    let wants_json = context::wants_json(matches);
    context::print(&if wants_json { history.json() } else { plans + &history.text() })?;
    let higher = history.last_by_first() > 1.0;
    let beyond = history.last_by_first().ln().abs() > margin.ln_1p();
    let verdict = if higher == figure.higher_is_faster() { Verdict::Faster } else { Verdict::Slower };
    gate.map_or(Ok(Exit::Ok), |gate| {
        let crossed = beyond && gate.crossed_by == verdict;
        gate.conclude(if crossed { Outcome::Crossed } else { Outcome::Passed }, wants_json)
    })
}

/// The noise floor of this platform on the target of the baseline; none where a run was made elsewhere, whatever its
/// target is called.
fn floor(store: &Store, baseline: &Side, candidate: &Side) -> Result<Option<NoiseFloor>> {
    let Some((first, _)) = baseline.first() else { return Ok(None) };
    let elsewhere = baseline.iter().chain(candidate).any(|(run, _)| store.is_imported(&run.head.id));
    if elsewhere { Ok(None) } else { noise::of(store, &first.head.target) }
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
            let steps = side.iter().flat_map(|(run, analysis)| run.steps.iter().zip(&analysis.summary.steps));
            steps
                .filter(|(_, summary)| summary.point.values == values && !summary.point.drift_check)
                .filter_map(|(step, summary)| repetition::value(figure, summary, step))
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

fn not_comparable(differing: &[Difference]) -> Error {
    let facts: Vec<_> = differing.iter().map(|d| format!("{} ({})", d.fact, d.sides())).collect();
    Error::plan(
        format!("the runs are not comparable, they differ in {}", facts.join(", ")),
        "compare runs that are alike, or give --force when the difference is the question",
    )
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

fn as_json(reported: &Reported, baseline: &Side, candidate: &Side) -> Value {
    let Reported { figure, names, points, medians, latencies, curves, differing, idle_settings, prices } = reported;
    let single = |c: &Comparison, medians: &[f64; 2]| {
        json!({
            "verdict": c.verdict,
            "medians": { "baseline": medians[0], "candidate": medians[1], "unit": figure.unit() },
            "ratio": c.ratio,
            "interval": c.interval.map(|i| [i.low, i.high]),
            "margin": c.margin,
            "runs_baseline": c.runs_baseline,
            "runs_candidate": c.runs_candidate,
            "runs_needed": c.runs_needed,
            "basis": c.basis,
            "bootstrap_interval": c.bootstrap.map(|i| [i.low, i.high]),
            "cliffs_delta": c.cliffs_delta,
        })
    };
    let mut all = match *points {
        [one] => single(&one.comparison, &medians[0]),
        many => json!({
            "points": many.iter().zip(medians).map(|(p, medians)| {
                let mut point = single(&p.comparison, medians);
                point["load"] = json!(p.load);
                point["p_adjusted"] = json!(p.p_adjusted);
                point
            }).collect::<Vec<_>>()
        }),
    };
    all["format"] = json!(1);
    all["names"] = json!({ "baseline": names[0], "candidate": names[1] });
    let standing = |side| sides::standing(side, Some(*figure));
    all["runs"] = json!({ "baseline": standing(baseline), "candidate": standing(candidate) });
    all["differing_facts"] = json!(differing);
    all["idle_settings"] = json!(idle_settings);
    all["prices"] = json!(prices);
    if let ([one], Some(prices)) = (*points, prices) {
        let (ratio, interval) = price::for_the_money(&one.comparison, prices);
        all["for_the_money"] = json!({ "ratio": ratio, "interval": interval });
    }
    all["latency"] = json!(latencies);
    let curve =
        |(values, reported): &(BTreeMap<String, String>, CurveComparison)| json!({ "at": values, "ratios": reported });
    all["curves"] = json!(curves.iter().map(curve).collect::<Vec<_>>());
    all
}
