//! `mindful compare`: is the candidate faster than the baseline, slower, or within noise?

mod compared;
mod gate;
mod history;
mod junit;
pub mod page;
mod price;
mod reported;
pub mod sides;
mod text;

use std::collections::BTreeMap;

use clap::ArgMatches;
use clap::builder::NonEmptyStringValueParser;
use mindful_analyze::compare::comparable::Difference;
use mindful_analyze::compare::{Comparison, CurveComparison, Verdict};
use mindful_core::plan::units::Share;
use mindful_core::{Error, Result};
use mindful_record::Store;
use mindful_runner::repetition::{Figure, Side};
use serde_json::{Value, json};

use crate::args::flags::{margin_and_figure, option, redact, repeat, sides, switch};
use crate::exit::Exit;
use crate::runs::Runs;
use crate::verb::{Action, Group, PlanKeys, Verb};
use crate::{context, store};
use gate::{Gate, Outcome};
use history::History;
use reported::Reported;
use sides::Sides;

pub const VERB: Verb = Verb {
    name: "compare",
    group: Some(Group::Judge),
    about: "Compare two sides: is the candidate faster, slower, or within noise?",
    details: "A side is a list of stored runs, or a plan file that compare runs several times, alternating (--run). A single run a side needs a noise floor: `mindful run --repeat 5` stores one.",
    example: "mindful compare --baseline before --candidate after --fail-if 'slower>5%'",
    page: "docs/comparing.md",
    plan: PlanKeys::None,
    arguments: || {
        let run = option("run", "run", "PLAN").num_args(2).conflicts_with_all(["baseline", "candidate"]);
        let history = option("history", "history", "RUN").num_args(1..);
        let undecided = option("undecided", "undecided", "fail|pass").value_parser(["fail", "pass"]);
        let junit = option("junit", "junit", "FILE").value_parser(NonEmptyStringValueParser::new());
        let mut all = sides(": id, its beginning, or tag").to_vec();
        all.extend([
            run.help("Run two plan files in turn and compare them"),
            repeat("Runs of each plan [1 to 1000] [default: 5]"),
            history
                .conflicts_with_all(["baseline", "candidate", "run"])
                .help("Find changes of level in a series of runs of one plan (ids or a tag)"),
        ]);
        all.extend(margin_and_figure());
        all.extend([
            option("fail_if", "fail-if", "GATE").help("Exit with 4 if this holds: 'slower>5%' or 'faster>5%'"),
            undecided
                .hide_possible_values(true)
                .requires("fail_if")
                .help("Outcome of a gate that the runs cannot decide: fail or pass [default: fail]"),
            junit.requires("fail_if").help("Also write the gate as JUnit XML, one test case a point"),
            redact(),
            switch("force", "force").help("Compare invalid runs, and runs that are not comparable"),
        ]);
        all
    },
    action: Action::Run(compare),
};

fn compare(matches: &ArgMatches) -> Result<Exit> {
    let store = store::open(matches)?;
    junit::refuse_to_replace(matches)?;
    let figure = matches.get_one::<String>("figure").map(|text| Figure::parse(text)).transpose()?;
    let undecided = matches.get_one::<String>("undecided").map(String::as_str);
    let gate = matches.get_one::<String>("fail_if").map(|text| Gate::parse(text, undecided)).transpose()?;
    let margin = matches.get_one::<String>("margin").map(|text| Share::parse(text)).transpose()?;
    let allowed = gate.as_ref().map_or_else(|| margin.map_or(0.03, |m| m.percent() / 100.0), |gate| gate.margin);
    if matches.contains_id("history") {
        return history(matches, figure.unwrap_or(Figure::Throughput), allowed, gate.as_ref());
    }
    let sides = sides::of_both(matches, gate.as_ref(), &store)?;
    let figure = figure.unwrap_or_else(|| compared::usual(&sides));
    // The noise floor is known by the name of the target.
    let question = compared::question(&store, &sides, figure, allowed)?;
    let sides = if matches.get_flag("redact") { sides.reported(&Runs::of(&store, matches))? } else { sides };
    if !matches.get_flag("force") {
        sides::refuse_invalid(&sides.baseline, &sides.candidate)?;
    }
    let differing = compared::differing(&sides);
    // Plans that are run against each other differ on purpose; what another tool measured is never alike: in what, is
    // reported beside the verdict.
    if !sides.planned && !compared::has_old(&sides) && !differing.is_empty() && !matches.get_flag("force") {
        return Err(not_comparable(&differing));
    }
    let reported = compared::against(&sides, figure, &question)?;
    if let Some(gate) = &gate {
        for point in &reported.points {
            let (a, b) = (point.comparison.runs_baseline as usize, point.comparison.runs_candidate as usize);
            gate.refuse_too_few(a, b, reported.points.len(), question.noise.is_some())?;
        }
    }
    let outcome = gate.as_ref().map(|gate| (gate, gate.of(&reported.points)));
    let Sides { baseline, candidate, .. } = &sides;
    let wants_json = context::wants_json(matches);
    let text = if wants_json {
        let mut all = as_json(&reported, baseline, candidate);
        if let Some((gate, outcome)) = outcome {
            all["gate"] = gate.json(outcome);
        }
        format!("{all:#}\n")
    } else {
        let runs = baseline.iter().chain(candidate).map(|(run, _)| run);
        context::found_plans(runs) + &text::report(&reported, baseline, candidate)
    };
    context::print(&text)?;
    outcome.map_or(Ok(Exit::Ok), |(gate, outcome)| {
        junit::write(matches, gate, &reported, [baseline, candidate])?;
        gate.conclude(outcome, wants_json)
    })
}

/// What two sides say together, in the form that is asked for; in what else they differ is reported and refuses nothing.
pub fn reported(matches: &ArgMatches, store: &Store, sides: &Sides) -> Result<String> {
    let figure = compared::usual(sides);
    let question = compared::question(store, sides, figure, page::MARGIN)?;
    let reported = compared::against(sides, figure, &question)?;
    let Sides { baseline, candidate, .. } = sides;
    Ok(if context::wants_json(matches) {
        format!("{:#}\n", as_json(&reported, baseline, candidate))
    } else {
        text::report(&reported, baseline, candidate)
    })
}

/// The changes of level in a series of runs; a gate is crossed when the last level lies beyond it.
fn history(matches: &ArgMatches, figure: Figure, margin: f64, gate: Option<&Gate>) -> Result<Exit> {
    let (store, force) = (store::open(matches)?, matches.get_flag("force"));
    let mut runs = sides::named(matches, "history", &store)?;
    if matches.get_flag("redact") {
        let reported = Runs::of(&store, matches);
        runs = runs.iter().map(|(run, _)| reported.read(&run.head.id)).collect::<Result<_>>()?;
    }
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
        let outcome = if crossed { Outcome::Crossed } else { Outcome::Passed };
        junit::write_history(matches, gate, outcome, &history)?;
        gate.conclude(outcome, wants_json)
    })
}

fn not_comparable(differing: &[Difference]) -> Error {
    let facts: Vec<_> = differing.iter().map(|d| format!("{} ({})", d.fact, d.sides())).collect();
    Error::plan(
        format!("the runs are not comparable: they differ in {}", facts.join(", ")),
        "compare similar runs, or pass --force if the difference is the question",
    )
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
    let mut all = match points.as_slice() {
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
    if let ([one], Some(prices)) = (points.as_slice(), prices) {
        let (ratio, interval) = price::for_the_money(&one.comparison, prices);
        all["for_the_money"] = json!({ "ratio": ratio, "interval": interval });
    }
    all["latency"] = json!(latencies);
    let curve =
        |(values, reported): &(BTreeMap<String, String>, CurveComparison)| json!({ "at": values, "ratios": reported });
    all["curves"] = json!(curves.iter().map(curve).collect::<Vec<_>>());
    all
}
