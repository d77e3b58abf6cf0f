//! The highest load within an objective, and the precision of its figures.

use mindful_core::plan::sweep::Objective;
use mindful_core::record::latency::Recorder;
use mindful_core::record::run::{Run, StepRecord};
use mindful_core::result::ObjectiveSummary;
use mindful_core::workload::OpKind;

use crate::figures::seconds::Seconds;
use crate::figures::window::Window;
use crate::stats::distribution::t_quantile;
use crate::steady::precision;
use crate::step::StepAnalysis;

const FEWEST_SECONDS: usize = 10;

/// Loads are whole numbers: smaller differences are rounding.
const SAME: f64 = 0.5;

struct Trial<'a> {
    load: f64,
    met: bool,
    full_length: bool,
    record: &'a StepRecord,
    step: &'a StepAnalysis,
}

/// The highest load that met the objective of `run` in each trial of full length, below the lowest load that missed it;
/// `None` without one, and for other runs.
pub(crate) fn found(run: &Run, steps: &[StepAnalysis]) -> Option<ObjectiveSummary> {
    let objective = run.head.settings.parse("max_iops_at", Objective::parse).ok().flatten()?;
    let searched = |key: &&str| run.steps.iter().any(|step| step.head.point.values.contains_key(*key));
    let key = ["rate", "sessions"].into_iter().find(searched)?;
    let trial = |(record, step)| trial(key, &objective, record, step);
    let trials: Vec<Trial> = run.steps.iter().zip(steps).filter_map(trial).collect();
    let best = highest(&trials)?;
    let op = best.step.summary.ops.main();
    let rate = best.step.summary.blocks_visited_per_s;
    let window = best.step.window.as_ref();
    Some(ObjectiveSummary {
        objective: objective.to_string(),
        key: key.to_owned(),
        load: best.load,
        load_range: load_range(&trials, best.load, &objective),
        step: best.record.head.step + 1,
        blocks_visited_per_s: rate,
        blocks_visited_per_s_interval: window
            .zip(rate)
            .and_then(|(window, rate)| rate_interval(best.record, window, rate)),
        latency_us: op.and_then(|op| objective.figure(op)),
        latency_us_interval: window.and_then(|window| {
            let kind = if best.step.summary.ops.select.is_some() { OpKind::Select } else { OpKind::Update };
            percentile_interval(best.record, window, kind, objective.percentile / 100.0)
        }),
    })
}

fn trial<'a>(key: &str, objective: &Objective, record: &'a StepRecord, step: &'a StepAnalysis) -> Option<Trial<'a>> {
    let point = &record.head.point;
    let load = point.number(key)?;
    Some(Trial { load, met: objective.is_met_by(&step.summary.ops)?, full_length: point.pass > 0, record, step })
}

/// The longest full-length trial at the load that is found. A full-length trial outweighs short ones, and a load that
/// missed once missed.
fn highest<'a, 'b>(trials: &'a [Trial<'b>]) -> Option<&'a Trial<'b>> {
    let holds = |load: f64| {
        let here = |full: bool| {
            trials.iter().filter(move |t| (t.load - load).abs() < SAME && (t.full_length || !full)).map(|t| t.met)
        };
        let full = here(true).next().is_some();
        here(full).all(|met| met)
    };
    let missed = trials.iter().map(|t| t.load).filter(|load| !holds(*load)).fold(f64::INFINITY, f64::min);
    let met = trials.iter().filter(|t| t.load < missed && t.full_length);
    met.max_by(|one, other| {
        let longer = one.record.head.point.pass.cmp(&other.record.head.point.pass);
        one.load.total_cmp(&other.load).then(longer)
    })
}

/// The loads that bracket the limit: a trial that differs from those of the lowest miss by less than their noise met
/// the objective by chance.
fn load_range(trials: &[Trial], load: f64, objective: &Objective) -> Option<[f64; 2]> {
    let missed = trials.iter().filter(|t| t.load > load && !t.met).map(|t| t.load).reduce(f64::min)?;
    let figures = |at: f64| {
        let here = trials.iter().filter(move |t| (t.load - at).abs() < SAME);
        here.map(|t| t.step.summary.ops.main().and_then(|op| objective.figure(op)).unwrap_or(f64::INFINITY))
    };
    let least_missed = figures(missed).fold(f64::INFINITY, f64::min);
    let certain = trials.iter().filter(|t| t.met && t.load <= load && figures(t.load).all(|us| us < least_missed));
    Some([certain.map(|t| t.load).fold(0.0, f64::max), missed])
}

/// The interval of the mean of the seconds of `window`, around the `rate` of all of it.
fn rate_interval(record: &StepRecord, window: &Window, rate: f64) -> Option<[f64; 2]> {
    let half = precision(&Seconds::from_step(record, window).blocks_per_s)?;
    Some([(rate * (1.0 - half)).max(0.0), rate * (1.0 + half)])
}

/// The interval of a quantile, from the interval of the share of operations beyond it. The error of that share comes
/// from its differences between seconds (a ratio of two sums). It is at least the error of as many independent
/// operations.
fn percentile_interval(record: &StepRecord, window: &Window, kind: OpKind, quantile: f64) -> Option<[f64; 2]> {
    let slices = window.first_boundary..window.last_boundary;
    let mut seconds: Vec<Recorder> = slices.clone().map(|_| Recorder::new()).collect();
    let mut all = Recorder::new();
    for slice in record.reports().filter(|slice| slices.contains(&slice.index)) {
        let op = slice.op(kind);
        let latency = op.response.as_ref().unwrap_or(&op.latency);
        seconds[(slice.index - slices.start) as usize].merge(latency);
        all.merge(latency);
    }
    let at = all.quantile_ns(quantile)?;
    if seconds.len() < FEWEST_SECONDS {
        return None;
    }
    let counts: Vec<(f64, f64)> =
        seconds.iter().map(|second| (second.count() as f64, second.beyond(at).0 as f64)).collect();
    let (ops, beyond) = counts.iter().fold((0.0, 0.0), |sum, each| (sum.0 + each.0, sum.1 + each.1));
    let (share, k) = (beyond / ops, counts.len() as f64);
    let squares: f64 = counts.iter().map(|(ops, beyond)| (beyond - share * ops).powi(2)).sum();
    let variance = (k / (k - 1.0) * squares / ops.powi(2)).max(quantile * (1.0 - quantile) / ops);
    let off = t_quantile(0.975, k - 1.0) * variance.sqrt();
    let us = |quantile: f64| all.quantile_ns(quantile).map(|ns| ns as f64 / 1e3);
    Some([us((quantile - off).max(0.0))?, us(quantile + off)?])
}
