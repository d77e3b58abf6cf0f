//! The steps of a sweep as curves over sessions, each with its knee if they differ only in their load.

use std::collections::BTreeMap;

use mindful_core::plan::sweep::Objective;
use mindful_core::plan::units::format_counted;
use mindful_core::record::run::{Run, StepHead};
use mindful_core::result::finding::codes;
use mindful_core::result::{CurveSummary, Finding, KneeSummary, StepSummary};

use crate::figures::blocks::CACHED_YIELD;
use crate::knee::{self, LoadPoint, Search};

type LadderStep<'a> = (&'a StepHead, &'a StepSummary);

/// The ladders of sessions in a run, by the values of its other keys.
fn ladders<'a>(run: &'a Run, steps: &'a [StepSummary]) -> BTreeMap<BTreeMap<String, String>, Vec<LadderStep<'a>>> {
    let mut ladders: BTreeMap<_, Vec<LadderStep>> = BTreeMap::new();
    let ladder_steps = run.steps.iter().map(|record| &record.head).zip(steps);
    for (head, step) in ladder_steps.filter(|(_, step)| step.point.has_sessions()) {
        ladders.entry(step.point.without_sessions()).or_default().push((head, step));
    }
    ladders
}

pub(crate) fn incomparable_steps(run: &Run, steps: &[StepSummary]) -> Vec<Finding> {
    let finding = |(values, ladder_steps): (BTreeMap<String, String>, Vec<LadderStep>)| {
        let mut words: Vec<String> = values.iter().map(|(key, value)| format!("{key} {value}")).collect();
        words.push(difference(&ladder_steps)?);
        let evidence = words.join(": ");
        let text = "The steps of the ladder are not alike: they differ in more than their sessions, so no knee is \
                    fitted over them. Let every step visit the same blocks (no --like, --commit each), and warm the \
                    cache up before the first (--warmup).";
        Some(codes::STEPS_NOT_ALIKE.finding(text, evidence))
    };
    ladders(run, steps).into_iter().filter_map(finding).collect()
}

/// One curve for each set of the other keys' values; empty if the steps are not a ladder of sessions.
pub(crate) fn curves(run: &Run, steps: &[StepSummary]) -> Vec<CurveSummary> {
    let objective = run.head.settings.parse("max_iops_at", Objective::parse).ok().flatten();
    let search = Search {
        p99_target_us: objective.filter(|o| (o.percentile - 99.0).abs() < 0.1).map(|o| o.limit_us),
        seed: run.head.plan.seed,
        ..Search::default()
    };
    // A result of another tool may be a single point, which is not a curve.
    let is_curve = |ladder_steps: &[LadderStep]| {
        run.head.imported.is_none() || ladder_steps.iter().filter_map(|(_, step)| point(step)).nth(1).is_some()
    };
    let ladders = ladders(run, steps).into_iter().filter(|(_, ladder_steps)| is_curve(ladder_steps));
    ladders.map(|(values, ladder_steps)| CurveSummary { values, knee: knee_of(&ladder_steps, &search) }).collect()
}

fn knee_of(ladder_steps: &[LadderStep], search: &Search) -> KneeSummary {
    let points: Vec<LoadPoint> = ladder_steps.iter().filter_map(|(_, step)| point(step)).collect();
    let fitted = match difference(ladder_steps) {
        Some(difference) => Err(format!("the steps differ ({difference})")),
        None => knee::find(&points, search).map_err(|why| why.to_string()),
    };
    fitted.map_or_else(
        |why| KneeSummary {
            why_not: Some(why),
            slo_sessions: search.p99_target_us.and_then(|us| knee::slo_sessions(&points, us)),
            max_per_s: points.iter().map(|point| point.throughput).reduce(f64::max),
            ..KneeSummary::default()
        },
        |knee| knee.summary,
    )
}

/// The rate of a step that rises with sessions up to its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    BlocksVisited,
    ReadRequests,
    WriteRequests,
    LogicalReads,
}

impl Flow {
    pub const fn unit(self) -> &'static str {
        self.words().0
    }

    pub const fn name(self) -> &'static str {
        self.words().1
    }

    const fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::BlocksVisited => ("blocks/s", "blocks visited per second"),
            Self::ReadRequests => ("reads/s", "read requests per second"),
            Self::WriteRequests => ("writes/s", "write requests per second"),
            Self::LogicalReads => ("LIO/s", "logical reads per second"),
        }
    }
}

/// Blocks visited per second. A report contains no operations: its flow is read requests, write requests if there were
/// no reads, or logical reads if almost none were physical.
fn flow(step: &StepSummary) -> Option<(Flow, f64)> {
    let requests = || {
        let physical = step.hit_ratio.is_none_or(|hits| hits <= 1.0 - CACHED_YIELD);
        let writes = step.write_requests_per_s.filter(|rate| *rate > 0.0).map(|rate| (Flow::WriteRequests, rate));
        let reads = step.read_requests_per_s.filter(|rate| physical && (*rate > 0.0 || writes.is_none()));
        reads.map(|rate| (Flow::ReadRequests, rate)).or(writes.filter(|_| step.logical_reads_per_s.is_none()))
    };
    let visited = step.blocks_visited_per_s.map(|rate| (Flow::BlocksVisited, rate));
    visited.or_else(requests).or_else(|| Some((Flow::LogicalReads, step.logical_reads_per_s?)))
}

pub fn throughput(step: &StepSummary) -> Option<f64> {
    flow(step).map(|(_, rate)| rate)
}

/// The flow of all `steps`; `None` if they differ, or without steps.
pub fn only_flow<'a>(steps: impl Iterator<Item = &'a StepSummary>) -> Option<Flow> {
    let mut flows = steps.filter_map(|step| flow(step).map(|(flow, _)| flow));
    let first = flows.next()?;
    flows.all(|flow| flow == first).then_some(first)
}

/// The flow of the steps of a run; operations if they differ.
pub fn common_flow<'a>(steps: impl Iterator<Item = &'a StepSummary>) -> Flow {
    only_flow(steps).unwrap_or(Flow::BlocksVisited)
}

/// The load point of `step`; `None` if it did no work.
pub(crate) fn point(step: &StepSummary) -> Option<LoadPoint> {
    let throughput = throughput(step).filter(|rate| *rate > 0.0)?;
    let p99_us = step.ops.main().and_then(|op| op.p99_us);
    Some(LoadPoint { sessions: step.sessions?, throughput, p99_us })
}

/// Accepted difference between hit ratios of two steps of one ladder, as a share: a step with more hits does other
/// work.
const HIT_RATIO_APART: f64 = 0.03;

/// Accepted difference in standard errors of the less certain ratio, from the step with fewer operations.
const ERRORS_APART: f64 = 4.0;

/// The standard error of a step's hit ratio, `sqrt(p (1 - p) / n)`. Blocks of an operation are neighbours by key, found
/// together where an operation a moment before was at the same keys: n are operations.
fn error_of_hit_ratio(step: &StepSummary) -> Option<f64> {
    let hits = step.hit_ratio?;
    let kinds = [&step.ops.select, &step.ops.update, &step.ops.scan];
    let ops = kinds.into_iter().flatten().map(|kind| kind.count).sum::<u64>();
    (ops > 0).then(|| (hits * (1.0 - hits) / ops as f64).sqrt())
}

/// Number of schemas that the sessions of a step visit; `None` if unknown.
pub(crate) fn schemas_visited(head: &StepHead) -> Option<u64> {
    let workload = head.workload.as_ref()?;
    if workload.spread_sessions.is_some() {
        return Some(workload.schemas.into());
    }
    let mut schemas: Vec<u32> = head.placements.iter().map(|placement| placement.schema).collect();
    schemas.extend((!workload.hot_schema.is_none()).then_some(1));
    schemas.sort_unstable();
    schemas.dedup();
    Some(schemas.len() as u64).filter(|count| *count > 0)
}

/// Differences between the steps of a ladder other than their load, in words; `None` without a known difference.
fn difference(steps: &[(&StepHead, &StepSummary)]) -> Option<String> {
    let active = steps.iter().filter_map(|(head, step)| {
        let blocks = schemas_visited(head)?.saturating_mul(head.workload.as_ref()?.scale);
        Some((blocks as f64, step.sessions?))
    });
    if let Some([(least, few), (most, many)]) = ends(active).filter(|[(least, _), (most, _)]| least < most) {
        return Some(format!(
            "{least:.0} blocks are visited by {}, {most:.0} by {many}",
            format_counted(few, "session")
        ));
    }
    let hits = steps.iter().filter_map(|(_, step)| Some((step.hit_ratio?, step.sessions?)));
    let [(least, at_least), (most, at_most)] = ends(hits)?;
    let noise = steps.iter().filter_map(|(_, step)| error_of_hit_ratio(step)).fold(0.0, f64::max);
    (most - least > HIT_RATIO_APART.max(ERRORS_APART * noise)).then(|| {
        format!(
            "hit ratio {:.1} % with {}, {:.1} % with {at_most}: more than {:.0} points apart",
            100.0 * least,
            format_counted(at_least, "session"),
            100.0 * most,
            100.0 * HIT_RATIO_APART
        )
    })
}

/// The least and the most of some figures, each with its sessions.
fn ends(figures: impl Iterator<Item = (f64, u32)>) -> Option<[(f64, u32); 2]> {
    figures.filter(|(value, _)| value.is_finite()).fold(None, |ends, here| {
        let [least, most] = ends.unwrap_or([here, here]);
        Some([if here.0 < least.0 { here } else { least }, if here.0 > most.0 { here } else { most }])
    })
}
