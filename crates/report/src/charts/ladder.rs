//! The steps of runs as curves: steps with equal other settings, by rising load.

use std::collections::BTreeMap;

use mindful_analyze::contrast::{ALL_CORES, CORES, LEVEL, Level};
use mindful_analyze::stats::moment::median;
use mindful_analyze::{StepAnalysis, curve, io_job};
use mindful_core::plan::sweep::Objective;
use mindful_core::record::run::Run;
use mindful_core::result::{KneeSummary, StepSummary, Summary, Validity};

use crate::escape;
use crate::figure::ends;

pub type Side<'a> = (&'a Run, &'a mindful_analyze::Analysis);

const LOADS: [&str; 2] = ["sessions", io_job::SMALL];

/// `(load, steps of that load)`.
type StepsByLoad<'a> = BTreeMap<u32, Vec<&'a StepAnalysis>>;
/// Settings of a point, but for its load.
type Values = BTreeMap<String, String>;

pub(crate) struct Ladder<'a> {
    pub name: String,
    pub loads: &'static str,
    pub knee: Option<&'a KneeSummary>,
    /// Whether it is a level of a contrast: raw reads, or the database.
    pub of_contrast: bool,
    pub p99_limit_us: Option<f64>,
    /// Steps of each load, by rising load; several if it was repeated.
    pub by_load: Vec<(u32, Vec<&'a StepAnalysis>)>,
}

/// The ladders of a run, called by its other settings if it has some; a single step is a ladder of one load.
pub(crate) fn ladders(side: Side<'_>) -> Vec<Ladder<'_>> {
    let summary = &side.1.summary;
    let own = summary.tag.as_ref().unwrap_or(&summary.target);
    side_ladders(&[side], |others| escape(&if others.is_empty() { own.clone() } else { words(others) }))
}

/// The ladders of runs that are one side of a comparison, called `name`: the steps of all of them together.
pub(crate) fn group_ladders<'a>(name: &str, sides: &[Side<'a>]) -> Vec<Ladder<'a>> {
    let mark = mark(sides);
    side_ladders(sides, |others| {
        let comma = if others.is_empty() { "" } else { ", " };
        escape(&format!("{name}{comma}{}", words(others))) + &mark
    })
}

/// A contrast is not a ladder.
fn side_ladders<'a>(sides: &[Side<'a>], name: impl Fn(&Values) -> String) -> Vec<Ladder<'a>> {
    let Some(first) = sides.first() else { return Vec::new() };
    let mut all: BTreeMap<Values, StepsByLoad<'a>> = BTreeMap::new();
    let plain = sides.iter().filter(|(_, analysis)| !analysis.summary.is_contrast());
    for step in plain.flat_map(|(_, analysis)| &analysis.steps) {
        let mut others = step.summary.point.values.clone();
        others.retain(|key, _| !LOADS.contains(&key.as_str()));
        if let Some(load) = load(&step.summary) {
            all.entry(others).or_default().entry(load).or_default().push(step);
        }
    }
    let ladder = |(others, by_load): (Values, StepsByLoad<'a>)| Ladder {
        name: name(&others),
        // Each run has its own; several runs do not have a common one.
        knee: if sides.len() == 1 { knee(&first.1.summary, &others) } else { None },
        ..bare(*first, by_load)
    };
    all.into_iter().map(ladder).collect()
}

/// The levels of contrasts that read from storage, each a ladder of its one load, on all cores: raw reads first, then
/// the database.
pub(crate) fn contrast_ladders<'a>(sides: &[Side<'a>]) -> Vec<Ladder<'a>> {
    let contrasts = sides.iter().filter(|(_, analysis)| analysis.summary.contrast.is_some());
    contrasts.flat_map(|side| contrast_levels(*side, sides.len() > 1)).collect()
}

fn contrast_levels((run, analysis): Side<'_>, many: bool) -> Vec<Ladder<'_>> {
    let (own, mark) = (run_name(&analysis.summary), mark(&[(run, analysis)]));
    let of_level = |level: Level| {
        let is = |step: &StepAnalysis, key: &str, value: &str| {
            step.summary.point.values.get(key).is_some_and(|given| given == value)
        };
        let mut by_load = StepsByLoad::new();
        for step in analysis.steps.iter().filter(|step| is(step, LEVEL, level.name()) && is(step, CORES, ALL_CORES)) {
            if let Some(sessions) = step.summary.sessions {
                by_load.entry(sessions).or_default().push(step);
            }
        }
        let name = if many { escape(&format!("{own}, {}", level.name())) + &mark } else { level.name().to_owned() };
        (!by_load.is_empty()).then(|| Ladder { name, of_contrast: true, ..bare((run, analysis), by_load) })
    };
    // Reads from memory show nothing about storage.
    Level::ALL.into_iter().filter(|level| *level != Level::Cached).filter_map(of_level).collect()
}

fn bare<'a>((run, analysis): Side<'a>, by_load: StepsByLoad<'a>) -> Ladder<'a> {
    let objective = run.head.settings.parse("max_iops_at", Objective::parse).ok().flatten();
    let of_files = analysis.steps.iter().any(|step| io_job::load(&step.summary.point).is_some());
    Ladder {
        name: String::new(),
        loads: if of_files { "in flight" } else { "sessions" },
        knee: None,
        of_contrast: false,
        p99_limit_us: objective.filter(|o| (o.percentile - 99.0).abs() < 0.1).map(|o| o.limit_us),
        by_load: by_load.into_iter().collect(),
    }
}

/// Small I/Os in flight of a job on files, else sessions; `None` for a point of only large reads, which are not IOPS.
fn load(step: &StepSummary) -> Option<u32> {
    match io_job::load(&step.point) {
        Some((small, _)) => Some(small).filter(|small| *small > 0),
        None => step.sessions,
    }
}

pub(crate) fn knee<'a>(summary: &'a Summary, others: &Values) -> Option<&'a KneeSummary> {
    let of_curve = || summary.curves.iter().find(|curve| curve.values == *others).map(|curve| &curve.knee);
    summary.knee.as_ref().or_else(of_curve)
}

/// The name of a run among others.
pub(super) fn run_name(summary: &Summary) -> &String {
    summary.tag.as_ref().unwrap_or(&summary.id)
}

/// The mark of unquotable runs after a name: the gravest.
fn mark(sides: &[Side]) -> String {
    doubt(sides).map_or_else(String::new, |doubt| format!(" {doubt}"))
}

/// The mark across pictures of runs that are not to be quoted: the gravest of all `sides`.
pub(crate) fn doubt(sides: &[Side]) -> Option<&'static str> {
    let worst = sides.iter().map(|(_, analysis)| analysis.summary.validity).max()?;
    (worst > Validity::Valid).then(|| worst.name())
}

fn words(others: &Values) -> String {
    others.iter().map(|(key, value)| format!("{} {value}", key.replace('_', "-"))).collect::<Vec<_>>().join(", ")
}

/// A figure of a step; `None` if unknown.
pub(super) type Figure = fn(&StepAnalysis) -> Option<f64>;

pub(super) fn steps<'a>(ladders: &'a [Ladder]) -> impl Iterator<Item = &'a StepAnalysis> {
    ladders.iter().flat_map(|ladder| &ladder.by_load).flat_map(|(_, steps)| steps.iter().copied())
}

/// The rate by which all `ladders` are drawn, with its name: their flow if they share it, else the rate that most steps
/// have. An axis has one unit.
pub(super) fn common_rate(ladders: &[Ladder]) -> (Figure, &'static str) {
    if let Some(flow) = curve::only_flow(steps(ladders).map(|step| &step.summary)) {
        return (|step| curve::throughput(&step.summary), flow.name());
    }
    let rates: [(Figure, &str); 3] = [
        (|step| step.summary.blocks_visited_per_s, "blocks visited per second"),
        (|step| step.summary.logical_reads_per_s, "logical reads per second"),
        (|step| step.summary.physical_reads_per_s.or(step.summary.read_requests_per_s), "physical reads per second"),
    ];
    let known = |rate: Figure| steps(ladders).filter(|step| rate(step).is_some()).count();
    rates.into_iter().max_by_key(|(rate, _)| known(*rate)).unwrap_or(rates[0])
}

/// A sentence about the ladders without `rate`; empty if all are drawn.
pub(super) fn not_drawn(ladders: &[Ladder], rate: Figure, name: &str) -> String {
    let unknown = |ladder: &&Ladder| steps(std::slice::from_ref(*ladder)).all(|step| rate(step).is_none());
    let names: Vec<&str> = ladders.iter().filter(unknown).map(|ladder| ladder.name.as_str()).collect();
    if names.is_empty() {
        String::new()
    } else {
        format!(" Not drawn, because its {name} are unknown: {}.", names.join(", "))
    }
}

/// The unit of the loads of `ladders`.
pub(super) fn loads(ladders: &[Ladder]) -> &'static str {
    let of_files = |ladder: &Ladder| ladder.loads != "sessions";
    match (ladders.iter().any(of_files), ladders.iter().all(of_files)) {
        (true, true) => "I/Os in flight",
        (true, false) => "sessions or I/Os in flight",
        (false, _) => "sessions",
    }
}

/// Median of the figures of the steps at one load, with the lowest and the highest if there are several; `None` if all
/// are unknown.
pub(crate) fn middle(
    steps: &[&StepAnalysis],
    figure: impl Fn(&StepAnalysis) -> Option<f64>,
) -> Option<(f64, Option<[f64; 2]>)> {
    let values: Vec<f64> = steps.iter().filter_map(|step| figure(step)).filter(|v| v.is_finite()).collect();
    let ends = ends(values.iter().copied()).filter(|_| values.len() > 1);
    Some((median(&values)?, ends))
}
