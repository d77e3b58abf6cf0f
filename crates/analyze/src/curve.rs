//! The steps of a sweep as curves over sessions, each with its knee.

use std::collections::BTreeMap;

use mindful_core::result::{CurveSummary, KneeSummary, StepSummary};
use mindful_core::run::Run;
use mindful_core::sweep::Objective;

use crate::figures::blocks::CACHED_YIELD;
use crate::knee::{self, Knee, LoadPoint, ModelKind, Search};
use crate::stats::interval::Interval;

/// One curve for each set of the other keys' values; none where the steps are no ladder of sessions.
pub fn curves(run: &Run, steps: &[StepSummary]) -> Vec<CurveSummary> {
    let mut ladders: BTreeMap<BTreeMap<String, String>, Vec<&StepSummary>> = BTreeMap::new();
    for step in steps.iter().filter(|step| step.point.values.contains_key("sessions")) {
        let mut others = step.point.values.clone();
        others.remove("sessions");
        ladders.entry(others).or_default().push(step);
    }
    let objective = run.head.settings.parse("max_iops_at", Objective::parse).ok().flatten();
    let search = Search {
        p99_target_us: objective.filter(|o| (o.percentile - 99.0).abs() < 0.1).map(|o| o.limit_us),
        seed: run.head.plan.seed,
        ..Search::default()
    };
    ladders.into_iter().map(|(values, steps)| CurveSummary { values, knee: knee_of(&steps, &search) }).collect()
}

fn knee_of(steps: &[&StepSummary], search: &Search) -> KneeSummary {
    let points: Vec<LoadPoint> = steps.iter().filter_map(|step| point(step)).collect();
    match knee::find(&points, search) {
        Ok(knee) => reported(&knee),
        Err(why) => KneeSummary {
            model: None,
            why_not: Some(why.to_string()),
            asymptote_sessions: None,
            best_power_sessions: None,
            slo_sessions: search.p99_target_us.and_then(|us| slo(knee::slo_point(&points, us))),
            peak_sessions: None,
            max_per_s: points.iter().map(|point| point.throughput).reduce(f64::max),
            intervals: BTreeMap::new(),
        },
    }
}

/// What rises with sessions until it stops: blocks visited per second; of a report, which tells no operations, the read
/// requests, or the logical reads where next to none of them were physical.
pub fn throughput(step: &StepSummary) -> Option<f64> {
    let requests = || {
        let physical = step.hit_ratio.is_none_or(|hits| hits <= 1.0 - CACHED_YIELD);
        step.read_requests_per_s.filter(|_| physical)
    };
    step.blocks_visited_per_s.or_else(requests).or(step.logical_reads_per_s)
}

/// What the ladder knows of `step`; `None` where it did nothing.
pub fn point(step: &StepSummary) -> Option<LoadPoint> {
    let throughput = throughput(step).filter(|rate| *rate > 0.0)?;
    let p99_us = step.ops.main().and_then(|op| op.p99_us);
    Some(LoadPoint { sessions: step.sessions?, throughput, error: None, p99_us })
}

fn slo(point: Option<knee::SloPoint>) -> Option<u32> {
    point.map(|point| point.sessions.floor() as u32)
}

fn reported(knee: &Knee) -> KneeSummary {
    let i = &knee.intervals;
    let intervals = [
        ("asymptote_sessions", i.asymptote_sessions),
        ("best_power_sessions", i.best_power_sessions),
        ("peak_sessions", i.peak_sessions),
        ("max_per_s", i.max_per_s),
    ];
    let ends = |interval: Interval| [interval.low, interval.high];
    KneeSummary {
        model: Some(name(knee.model).to_owned()),
        why_not: None,
        asymptote_sessions: knee.asymptote_sessions,
        best_power_sessions: knee.best_power_sessions,
        slo_sessions: slo(knee.slo_sessions),
        peak_sessions: knee.peak_sessions,
        max_per_s: Some(knee.max_per_s),
        intervals: intervals.into_iter().filter_map(|(name, i)| Some((name.to_owned(), ends(i?)))).collect(),
    }
}

const fn name(model: ModelKind) -> &'static str {
    match model {
        ModelKind::Capped => "capped",
        ModelKind::Usl => "usl",
        ModelKind::CappedRetrograde => "capped_retrograde",
    }
}
