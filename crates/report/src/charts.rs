//! The charts of runs, by kind of run.

mod contrast;
pub(crate) mod differences;
pub(crate) mod ladder;
pub(crate) mod latency_iops;
mod over_time;
mod ranking;
mod sessions;
mod step;
mod timeline;

use std::fmt::Write as _;

use mindful_analyze::StepAnalysis;
use mindful_core::record::run::StepRecord;
use mindful_core::result::Validity;
use mindful_core::result::ranking::RankingSummary;
use mindful_core::{Error, Result};

use crate::card;
use crate::comparison::Differences;
use crate::drawing::frame::Drawing;
use crate::drawing::plot::Plot;
use crate::panels::facts;
pub use ladder::Side;
pub(crate) use ladder::doubt;

pub const DIFFERENCES: &str = differences::NAME;
pub const RANKS: &str = ranking::RANKS;
/// Charts of several runs together.
const OF_RUNS: [&str; 3] = [latency_iops::NAME, "sessions", "cpu-cost"];
pub const OF_SIDES: [&str; 3] = [DIFFERENCES, RANKS, ranking::PRICES];

/// The charts by name, with their contents.
pub const NAMES: [(&str, &str); 15] = [
    (latency_iops::NAME, "latency against throughput, one curve per configuration"),
    ("sessions", "throughput by sessions, compared with linear growth"),
    ("mib", "MiB read, written and logged per second, one point per step"),
    ("cpu-cost", "CPU time of the server per read, one point per step"),
    ("rungs", "time for a block at each level of a contrast, and its difference to the level before"),
    ("added", "parts of the time that a database adds to a block"),
    ("commits", "commits per second, their 99th percentile and commits per sync, against bare durable writes"),
    ("timeline", "as `time`, all steps on one axis, with the hooks"),
    ("time", "throughput, latency, waits, device and CPU over time"),
    ("log", "updates, syncs of the log and flushes at its device over time"),
    ("distribution", "latencies of operations, by number and by time"),
    ("ledger", "reads as counted at each level"),
    (DIFFERENCES, "differences between two sides, with their intervals"),
    (RANKS, "several sides relative to the best, with their intervals"),
    (ranking::PRICES, "price of a month against work for that price"),
];

/// The charts of all steps of a run, for a page: a curve needs two points.
pub(crate) fn page_charts(side: Side) -> Vec<Drawing> {
    let is_shown = |drawing: &Drawing| side.0.steps.len() > 1 || drawing.name() != latency_iops::NAME;
    run_charts(side).into_iter().filter(is_shown).collect()
}

fn run_charts(side: Side) -> Vec<Drawing> {
    let curves = ladder_charts(ladder::ladders(side), &[side]);
    let drawings = curves.into_iter().chain(contrasts(&[side])).chain(timeline::drawing(side.0, side.1));
    drawings.map(|drawing| drawing.doubted(doubt(&[side]))).collect()
}

/// The charts of groups of runs: a curve a group and configuration, at the median of the runs.
pub(crate) fn group_charts(groups: &[(&str, &[Side])]) -> Vec<Drawing> {
    let all = groups.iter().map(|(_, sides)| *sides).collect::<Vec<_>>().concat();
    let ladders: Vec<_> = groups.iter().flat_map(|(name, sides)| ladder::group_ladders(name, sides)).collect();
    ladder_charts(ladders, &all).into_iter().chain(contrasts(&all)).collect()
}

/// The same of several runs, each under its tag or its id.
pub(crate) fn charts_of_runs(sides: &[Side]) -> Vec<Drawing> {
    let names = sides.iter().map(|(_, analysis)| ladder::run_name(&analysis.summary).as_str());
    group_charts(&names.zip(sides.chunks(1)).collect::<Vec<_>>())
}

/// The order of a group of sides, and their work for the price.
pub(crate) fn rank_charts(summary: &RankingSummary, group: usize) -> impl Iterator<Item = Drawing> {
    [ranking::ranks(summary, group), ranking::prices(summary, group)].into_iter().flatten()
}

/// The chart called `name` of the first group of sides that has it.
///
/// # Errors
/// No group has it.
pub fn ranking_chart(name: &str, ranking: &RankingSummary) -> Result<Drawing> {
    one_of((0..ranking.groups.len()).flat_map(|group| rank_charts(ranking, group)).collect(), name)
}

/// The curves of `ladders`; latency against throughput next to the levels of the contrasts of `sides`, which have one load
/// each.
fn ladder_charts<'a>(ladders: Vec<ladder::Ladder<'a>>, sides: &[Side<'a>]) -> Vec<Drawing> {
    let by_load = [sessions::throughput(&ladders), sessions::mib(&ladders), sessions::cpu(&ladders)];
    let all: Vec<_> = ladders.into_iter().chain(ladder::contrast_ladders(sides)).collect();
    let plots = std::iter::once(latency_iops::plot(&all)).chain(by_load);
    plots.flatten().map(Plot::drawing).collect()
}

/// The charts of each contrast; with several runs, each is labelled with its run.
fn contrasts(sides: &[Side]) -> Vec<Drawing> {
    let (mut all, doubt) = (Vec::new(), doubt(sides));
    for (_, analysis) in sides {
        let summary = &analysis.summary;
        let drawings = contrast::drawings(summary).into_iter().chain(contrast::commits(summary));
        let own = crate::escape(ladder::run_name(summary));
        let own = if sides.len() > 1 { format!(": {own}") } else { String::new() };
        all.extend(drawings.map(|drawing| drawing.entitled(&own).doubted(doubt)));
    }
    all
}

pub(crate) fn step_charts(
    record: &StepRecord,
    step: &StepAnalysis,
    doubt: Option<&'static str>,
    columns: usize,
) -> Vec<Drawing> {
    let drawings = [
        over_time::drawing(record, step, columns),
        over_time::log_drawing(record, step, columns),
        step::distribution(record, step),
        step::ledger(step),
    ];
    drawings.into_iter().flatten().map(|drawing| drawing.doubted(doubt)).collect()
}

/// The chart called `name` of `sides`; a chart of one step shows the last step.
///
/// # Errors
/// There is no such chart, or these runs have no data for it.
pub fn named(name: &str, sides: &[Side]) -> Result<Drawing> {
    if !NAMES.iter().any(|(known, _)| *known == name) {
        let known: Vec<_> = NAMES.iter().map(|(known, _)| *known).collect();
        return Err(Error::plan(format!("no chart is called `{name}`"), format!("there are: {}", known.join(", "))));
    }
    if OF_SIDES.contains(&name) {
        return Err(Error::plan(format!("the chart `{name}` is of several sides"), "name two sides or more"));
    }
    let [(run, analysis)] = sides else {
        if !OF_RUNS.contains(&name) {
            let next = "name one run, or --chart latency-iops";
            return Err(Error::plan(format!("the chart `{name}` is of one run"), next));
        }
        let all = charts_of_runs(sides).into_iter().filter(|drawing| OF_RUNS.contains(&drawing.name()));
        return one_of(all.collect(), name);
    };
    let last = run.steps.last().zip(analysis.steps.last());
    let of_step = last.map(|(record, step)| step_charts(record, step, doubt(sides), 120)).unwrap_or_default();
    one_of(run_charts(sides[0]).into_iter().chain(of_step).collect(), name)
}

/// The chart of the differences of two sides, which have `runs`.
///
/// # Errors
/// The sides have no data for it.
pub fn differences_chart(compared: &Differences, runs: &[Side]) -> Result<Drawing> {
    let drawing = differences::drawing(compared).ok_or_else(|| {
        let why = compared.sentences.first().map_or("none has a ratio", String::as_str);
        let next = "`mindful compare` of the two lists the figures that they have in common";
        Error::plan(format!("these sides have no differences to draw: {why}"), next)
    })?;
    Ok(drawing.doubted(doubt(runs)))
}

fn one_of(all: Vec<Drawing>, name: &str) -> Result<Drawing> {
    let there: Vec<_> = all.iter().map(Drawing::name).collect();
    let next = match there.as_slice() {
        [] => "these runs contain nothing to draw: `mindful show` prints the reason".to_owned(),
        names => format!("these runs have: {}", names.join(", ")),
    };
    all.into_iter()
        .find(|drawing| drawing.name() == name)
        .ok_or_else(|| Error::plan(format!("these runs have nothing for the chart `{name}`"), next))
}

/// The text below a chart that leaves its page: whether it may be quoted, and the facts of each run that a comparison
/// needs.
pub fn caption(sides: &[Side]) -> Vec<String> {
    sides.iter().flat_map(|side| caption_of(*side, sides.len() > 1)).collect()
}

fn caption_of((run, analysis): Side, brief: bool) -> Vec<String> {
    let (summary, version) = (&analysis.summary, &run.head.mindful_version);
    let (word, id, began) = (summary.validity.name(), &summary.id, &summary.started_at);
    let mut first = format!("{word}: run {id}, {began}, mindful {version}");
    if summary.validity > Validity::Valid {
        let _ = write!(first, ". {}", card::against(summary));
    }
    let facts = facts::measured_facts(run, analysis);
    let facts = facts.iter().filter(|(name, _)| !brief || ["engine", "block size", "notice"].contains(&name.as_str()));
    let facts: Vec<_> = facts.map(|(name, what)| format!("{name}: {what}")).collect();
    vec![first, facts.join(" | ")]
}
