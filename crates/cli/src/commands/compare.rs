//! `mindful compare`: which side is faster, and by how much? Two sides get a verdict, more get ranks.

mod junit;
pub(crate) mod sides;

use clap::builder::NonEmptyStringValueParser;
use clap::{Arg, ArgMatches};
use mindful_analyze::compare::{
    Basis, ComparedFigure, ComparedSides, Gate, GateOutcome, History, NoiseFloor, OrderedBy, Ranking, Side, Sides,
};
use mindful_core::plan::units::Share;
use mindful_core::result::comparison::Difference;
use mindful_core::{Error, Result};
use mindful_record::Store;
use mindful_report::comparison;
use mindful_report::export::json;

use self::sides::AllSides;
use crate::args::flags::{margin_and_figure, option, order_and_prices, redact, repeat, switch};
use crate::exit::{self, Exit};
use crate::runs::Runs;
use crate::verb::{Action, Verb};
use crate::{context, store};

/// Differences up to this share do not matter by default.
const DEFAULT_MARGIN: f64 = 0.03;

pub(super) const VERB: Verb = Verb {
    name: "compare",
    about: "Compare sides: which is faster, and which cannot be told apart?",
    details: "A side is a tag, a run, a pack, or a folder of packs; RUN,RUN joins runs. Or compare runs plan files several times, in turn (--run). Of two sides the first is the baseline; more sides get ranks. A single run on a side needs a noise floor: `mindful run --repeat 5` stores one.",
    example: "mindful compare before after --fail-if 'slower>5%'",
    page: "docs/comparing.md",
    plan: None,
    arguments: || {
        let sides = Arg::new("sides").value_name("SIDE").num_args(1..).conflicts_with_all(["run", "history"]);
        let run = option("run", "run", "PLAN").num_args(2..);
        let history = option("history", "history", "RUN").num_args(1..);
        let undecided = option("undecided", "undecided", "fail|pass").value_parser(["fail", "pass"]);
        let junit = option("junit", "junit", "FILE").value_parser(NonEmptyStringValueParser::new());
        let mut all = vec![
            sides.help("Tag, run (id or its beginning), pack, or folder of packs"),
            run.help("Run plan files in turn and compare them"),
            repeat("Runs of each plan [1 to 1000] [default: 5]"),
            history.conflicts_with("run").help("Find changes of level in a series of runs of one plan (ids or a tag)"),
        ];
        all.extend(order_and_prices());
        all.extend(margin_and_figure());
        all.extend([
            option("fail_if", "fail-if", "GATE")
                .help("Exit with 4 if this holds for the last side: 'slower>5%', 'faster>5%', 'not in the first rank'"),
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
    let by = order(matches)?;
    let passes_undecided = matches.get_one::<String>("undecided").is_some_and(|text| text == "pass");
    let gate = matches.get_one::<String>("fail_if").map(|text| Gate::parse(text, passes_undecided)).transpose()?;
    let margin = gate.as_ref().and_then(|gate| gate.margin).map_or_else(|| margin(matches), Ok)?;
    if matches.contains_id("history") {
        return compare_history(matches, figure.unwrap_or(ComparedFigure::Throughput), margin, gate.as_ref());
    }
    let all = AllSides::named(matches, gate.as_ref(), &store)?;
    let (sides, noise) = match (all, by) {
        (all, Some(by)) => return rank(matches, &all, by, margin, gate.as_ref()),
        (all, None) => match all.two() {
            Ok(two) => two,
            Err(all) => return rank(matches, &all, figure.map_or(BY_READS, OrderedBy::Figure), margin, gate.as_ref()),
        },
    };
    let figure = figure.unwrap_or_else(|| sides.default_figure());
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
        return context::print(&document(matches, &compared, &sides, None));
    };
    for point in &compared.points {
        let c = &point.comparison;
        let (a, b) = (c.runs_baseline as usize, c.runs_candidate as usize);
        if c.basis != Basis::Machines {
            gate.refuse_too_few(a, b, compared.points.len(), noise.is_some())?;
        }
    }
    let outcome = gate.judge_points(&compared.points);
    context::print(&document(matches, &compared, &sides, Some((gate, outcome))))?;
    junit::write(matches, || comparison::comparison_suite(&compared, &sides, gate))?;
    conclude(gate, outcome, None, context::wants_json(matches))
}

/// The default criterion for the order of sides.
const BY_READS: OrderedBy = OrderedBy::Figure(ComparedFigure::Reads);

/// The value of `--by`.
fn order(matches: &ArgMatches) -> Result<Option<OrderedBy>> {
    let parsed = matches.get_one::<String>("by").map(|text| OrderedBy::parse(text)).transpose();
    parsed.map_err(|error| error.at("--by"))
}

fn rank(matches: &ArgMatches, all: &AllSides, by: OrderedBy, margin: f64, gate: Option<&Gate>) -> Result<Exit> {
    let mut ranking = Ranking::from_sides(&all.sides, by, margin, matches.get_flag("force"))?;
    let outcome = gate.map(|gate| ranking.judge(gate, &all.sides)).transpose()?;
    ranking.summary.gate = gate.zip(outcome).map(|(gate, outcome)| gate.summary(outcome));
    let summary = &ranking.summary;
    let plans = context::found_plans(all.sides.iter().flat_map(|side| &side.runs).map(|(run, _)| run));
    context::print(&if context::wants_json(matches) {
        json::summary(summary)
    } else {
        plans + &comparison::ranking_text(summary, &context::style())
    })?;
    let Some((gate, outcome)) = gate.zip(outcome) else { return Ok(Exit::Ok) };
    junit::write(matches, || comparison::ranking_suite(summary, gate, outcome))?;
    let last = all.sides.last().map(|side| side.name.as_str());
    conclude(gate, outcome, last, context::wants_json(matches))
}

/// The ranks of sides that an export shows, by --by, --figure and --margin.
pub(super) fn ranked(matches: &ArgMatches, all: &AllSides) -> Result<Ranking> {
    let (by, margin) = order_and_margin(matches)?;
    Ranking::from_sides(&all.sides, by, margin, false)
}

/// The criterion by which an export orders sides, and the margin.
pub(super) fn order_and_margin(matches: &ArgMatches) -> Result<(OrderedBy, f64)> {
    let by = match order(matches)? {
        Some(by) => by,
        None => figure(matches)?.map_or(BY_READS, OrderedBy::Figure),
    };
    Ok((by, margin(matches)?))
}

fn figure(matches: &ArgMatches) -> Result<Option<ComparedFigure>> {
    matches.get_one::<String>("figure").map(|text| ComparedFigure::parse(text)).transpose()
}

fn margin(matches: &ArgMatches) -> Result<f64> {
    let margin = matches.get_one::<String>("margin").map(|text| Share::parse(text)).transpose()?;
    Ok(margin.map_or(DEFAULT_MARGIN, |margin| margin.percent() / 100.0))
}

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
    context::found_plans(sides.runs().map(|(run, _)| run))
        + &comparison::comparison_text(compared, sides, &context::style())
}

/// The comparison of two sides with intended differences, as JSON or as text.
pub(super) fn planned(matches: &ArgMatches, store: &Store, sides: &Sides) -> Result<String> {
    let noise = sides::noise_floor(&sides.baseline, store)?;
    let compared = sides.compare(sides.default_figure(), DEFAULT_MARGIN, noise)?;
    Ok(if context::wants_json(matches) {
        json::summary(&compared.summary(sides))
    } else {
        comparison::comparison_text(&compared, sides, &context::style())
    })
}

/// The rows of a page or a picture for `sides`, by --figure and --margin.
pub(super) fn differences(
    matches: &ArgMatches,
    (sides, noise): &(Sides, Option<NoiseFloor>),
) -> Result<comparison::Differences> {
    let figure = figure(matches)?.unwrap_or_else(|| sides.default_figure());
    let margin = margin(matches)?;
    Ok(comparison::differences(&sides.names, margin, sides.compare(figure, margin, *noise)))
}

/// Prints the line of the gate, last: after JSON on stderr.
fn conclude(gate: &Gate, outcome: GateOutcome, side: Option<&str>, as_json: bool) -> Result<Exit> {
    let line = comparison::gate_line(gate, outcome, side);
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
    conclude(gate, outcome, None, wants_json)
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
