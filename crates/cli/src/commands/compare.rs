//! `mindful compare`: is the candidate faster than the baseline, slower, or within noise?

mod junit;
pub(super) mod sides;

use clap::ArgMatches;
use clap::builder::NonEmptyStringValueParser;
use mindful_analyze::compare::{ComparedFigure, ComparedSides, Gate, GateOutcome, History, NoiseFloor, Side, Sides};
use mindful_core::plan::units::Share;
use mindful_core::result::comparison::Difference;
use mindful_core::{Error, Result};
use mindful_record::Store;
use mindful_report::comparison;
use mindful_report::export::json;

use crate::args::flags::{margin_and_figure, option, redact, repeat, sides as side_flags, switch};
use crate::exit::{self, Exit};
use crate::runs::Runs;
use crate::verb::{Action, Group, PlanKeys, Verb};
use crate::{context, noise, store};

/// Differences up to this share do not matter by default.
const DEFAULT_MARGIN: f64 = 0.03;

pub(super) const VERB: Verb = Verb {
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
        let mut all = side_flags(": id, its beginning, or tag").to_vec();
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
    let figure = figure(matches)?;
    let passes_undecided = matches.get_one::<String>("undecided").is_some_and(|text| text == "pass");
    let gate = matches.get_one::<String>("fail_if").map(|text| Gate::parse(text, passes_undecided)).transpose()?;
    let margin = gate.as_ref().map_or_else(|| margin(matches), |gate| Ok(gate.margin))?;
    if matches.contains_id("history") {
        return compare_history(matches, figure.unwrap_or(ComparedFigure::Throughput), margin, gate.as_ref());
    }
    let sides = sides::of_both(matches, gate.as_ref(), &store)?;
    let figure = figure.unwrap_or_else(|| sides.default_figure());
    // Before names are redacted: the noise floor is stored under the name of the target.
    let noise = noise_floor(&store, &sides)?;
    let sides = if matches.get_flag("redact") { sides::redacted(sides, &Runs::of(&store, matches))? } else { sides };
    if !matches.get_flag("force") {
        sides::refuse_invalid(&sides.baseline, &sides.candidate)?;
    }
    // Plans that are run against each other differ on purpose, and runs of another tool always differ: the report names
    // the differing facts.
    if !sides.planned && !sides.has_imported() && !matches.get_flag("force") {
        refuse_different(&sides.differences())?;
    }
    let compared = sides.compare(figure, margin, noise)?;
    let Some(gate) = &gate else {
        context::print(&document(matches, &compared, &sides, None))?;
        return Ok(Exit::Ok);
    };
    for point in &compared.points {
        let c = &point.point.comparison;
        let (a, b) = (c.runs_baseline as usize, c.runs_candidate as usize);
        gate.refuse_too_few(a, b, compared.points.len(), noise.is_some())?;
    }
    let outcome = gate.judge_points(&compared.points);
    context::print(&document(matches, &compared, &sides, Some((gate, outcome))))?;
    junit::write(matches, || comparison::comparison_suite(&compared, &sides, gate))?;
    conclude(gate, outcome, context::wants_json(matches))
}

fn figure(matches: &ArgMatches) -> Result<Option<ComparedFigure>> {
    matches.get_one::<String>("figure").map(|text| ComparedFigure::parse(text)).transpose()
}

fn margin(matches: &ArgMatches) -> Result<f64> {
    let margin = matches.get_one::<String>("margin").map(|text| Share::parse(text)).transpose()?;
    Ok(margin.map_or(DEFAULT_MARGIN, |margin| margin.percent() / 100.0))
}

/// The comparison as JSON or as text.
fn document(
    matches: &ArgMatches,
    compared: &ComparedSides,
    sides: &Sides,
    judged: Option<(&Gate, GateOutcome)>,
) -> String {
    if context::wants_json(matches) {
        let mut summary = compared.summary(sides);
        summary.gate = judged.map(|(gate, outcome)| gate.summary(outcome));
        return json::summary(&summary);
    }
    context::found_plans(sides.runs().map(|(run, _)| run)) + &comparison::comparison_text(compared, sides)
}

/// The comparison of two sides that are meant to differ, as JSON or as text.
pub(super) fn planned(matches: &ArgMatches, store: &Store, sides: &Sides) -> Result<String> {
    let noise = noise_floor(store, sides)?;
    let compared = sides.compare(sides.default_figure(), DEFAULT_MARGIN, noise)?;
    Ok(if context::wants_json(matches) {
        json::summary(&compared.summary(sides))
    } else {
        comparison::comparison_text(&compared, sides)
    })
}

/// What a page or a picture shows of `sides`, by --figure and --margin.
pub(super) fn differences(
    matches: &ArgMatches,
    store: &Store,
    sides: &Sides,
) -> Result<comparison::difference::Differences> {
    let figure = figure(matches)?.unwrap_or_else(|| sides.default_figure());
    let (margin, noise) = (margin(matches)?, noise_floor(store, sides)?);
    Ok(comparison::differences(&sides.names, margin, sides.compare(figure, margin, noise)))
}

/// The noise floor of this platform on the target of the baseline; none if a run was made on another host.
fn noise_floor(store: &Store, sides: &Sides) -> Result<Option<NoiseFloor>> {
    let Some((first, _)) = sides.baseline.first() else { return Ok(None) };
    if sides.runs().any(|(run, _)| store.is_imported(&run.head.id)) {
        return Ok(None);
    }
    // From the store: a redacted run has another target.
    noise::of(store, &store.head(&first.head.id)?.target)
}

/// Prints the line of the gate, last: after JSON on stderr.
fn conclude(gate: &Gate, outcome: GateOutcome, as_json: bool) -> Result<Exit> {
    let line = comparison::gate_line(gate, outcome);
    if as_json {
        exit::tell(&line);
    } else {
        context::print(&format!("{line}\n"))?;
    }
    Ok(if gate.fails(outcome) { Exit::GateCrossed } else { Exit::Ok })
}

/// The changes of level in a series of runs. A gate is crossed when the last level is beyond it.
fn compare_history(matches: &ArgMatches, figure: ComparedFigure, margin: f64, gate: Option<&Gate>) -> Result<Exit> {
    let (store, force) = (store::open(matches)?, matches.get_flag("force"));
    let mut runs = sides::named(matches, "history", &store)?;
    if matches.get_flag("redact") {
        let redacted = Runs::of(&store, matches);
        runs = runs.iter().map(|(run, _)| redacted.read(&run.head.id)).collect::<Result<_>>()?;
    }
    if !force {
        sides::refuse_invalid(&runs, &Side::new())?;
    }
    let plans = context::found_plans(runs.iter().map(|(run, _)| run));
    if let Some(gate) = gate {
        gate.refuse_short_history(runs.len())?;
    }
    let history = History::from_runs(runs, figure, margin, force)?;
    let wants_json = context::wants_json(matches);
    context::print(&if wants_json {
        json::summary(&history.summary())
    } else {
        plans + &comparison::history_text(&history)
    })?;
    let Some(gate) = gate else { return Ok(Exit::Ok) };
    let outcome = gate.judge_history(history.last_by_first(), margin, figure.higher_is_faster());
    junit::write(matches, || comparison::history_suite(&history, gate, outcome))?;
    conclude(gate, outcome, wants_json)
}

fn refuse_different(differing: &[Difference]) -> Result<()> {
    if differing.is_empty() {
        return Ok(());
    }
    let facts: Vec<_> = differing.iter().map(|d| format!("{} ({})", d.fact, d.sides())).collect();
    Err(Error::plan(
        format!("the runs are not comparable: they differ in {}", facts.join(", ")),
        "compare similar runs, or pass --force if the difference is the question",
    ))
}
