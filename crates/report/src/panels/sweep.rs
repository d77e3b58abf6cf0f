//! A sweep for a person: one line a step, the curve, and the knee in words.

use std::collections::BTreeMap;

use mindful_analyze::Analysis;
use mindful_analyze::curve::{Flow, common_flow, throughput};
use mindful_core::contract::description::Words;
use mindful_core::record::run::{Run, StepRecord, values_in_words};
use mindful_core::result::{KneeFigure, KneeSummary, OpSummary, StepSummary, Summary};

use crate::charts::ladder;
use crate::drawing::characters::{Spot, goes_by_ratio};
use crate::figure::{ends, maybe, whole};
use crate::panels::ranks::limit;
use crate::panels::{Curve, Panel, answer, step};
use crate::table::Side::{Left, Right};
use crate::table::{Column, LOG_RATE, Table};
use crate::{card, escape, figure, grouped};

/// The reports' definition of a knee.
const KNEE: &str = "the knee is the load above which more sessions add latency but little throughput";

/// Difference of the repeated first step that casts doubt on the table: the method's worst case between runs.
const DRIFT: f64 = 0.03;

/// The panels of a sweep: the varied settings and the highest figure of all steps, and a table a ladder.
pub(crate) fn panels(run: &Run, analysis: &Analysis) -> Vec<Panel> {
    let summary = &analysis.summary;
    let block_bytes = run.description.as_ref().map(|description| description.block_bytes);
    let words = run.words();
    let mut panels = vec![Panel::default()];
    panels[0].blank();
    panels[0].wrapped(2, &swept(run, summary));
    for line in highest(run, analysis) {
        panels[0].wrapped(2, &line);
    }
    let mut knee_is_explained = false;
    for ladder in ladders(summary) {
        let mut panel = ladder_panel(&ladder, block_bytes, &words);
        if ladder.1.is_some_and(|knee| knee.asymptote_sessions.is_some()) && !knee_is_explained {
            panel.wrapped(2, KNEE);
            knee_is_explained = true;
        }
        if let Some(line) = summary.price.as_ref().and_then(|price| step::most_for_price(price, &ladder.2)) {
            panel.blank();
            panel.wrapped(2, &line);
        }
        panels.push(panel);
    }
    panels
}

/// The highest figure of all steps, its limit, and the next step. A search has an answer of its own.
fn highest(run: &Run, analysis: &Analysis) -> Vec<String> {
    let best = card::best(analysis).filter(|_| answer::answer(run, analysis).is_none());
    let Some((number, step)) = best else { return Vec::new() };
    let (Some([figure, name]), Some(verdict)) = (card::figure(step), &step.verdict) else { return Vec::new() };
    let place = card::place(step, number, analysis.steps.len());
    // The figure that selects the step comes first, unless it is the headline itself.
    let chosen_by = card::rate(step).filter(|(_, label)| !name.starts_with(label));
    let chosen_by = chosen_by.map_or_else(String::new, |(rate, label)| format!("{} {label}, ", figure::number(rate)));
    let limit = card::limit_with_evidence(verdict);
    vec![format!("highest: {chosen_by}{figure} {name} ({place}), {limit}"), card::next(verdict)]
}

fn ladder_panel((values, knee, steps): &Ladder<'_>, block_bytes: Option<u64>, words: &Words) -> Panel {
    let mut panel = Panel::default();
    panel.blank();
    if !values.is_empty() {
        panel.add_line(&format!("  {}", escape(&values_in_words(values))));
    }
    panel.main_table(table(steps, block_bytes, words));
    if let Some(curve) = curve(steps) {
        panel.curve(curve);
    }
    if let Some(line) = drift(steps) {
        panel.blank();
        panel.wrapped(2, &line);
    }
    if let Some(knee) = knee {
        panel.blank();
        for line in knee_lines(knee, steps) {
            panel.wrapped(2, &line);
        }
    }
    panel
}

fn swept(run: &Run, summary: &Summary) -> String {
    let state = if summary.finished { "" } else { ", unfinished: `mindful sweep --resume` continues it" };
    let mut kits: Vec<_> = summary.steps.iter().filter_map(|step| step.like.kit()).collect();
    kits.dedup();
    let log = run.words().log;
    let commit = |(step, record): (&StepSummary, &StepRecord)| {
        step.commit.as_ref().and_then(|_| record.head.workload.as_ref()?.commit_mode(&log))
    };
    let mut commits: Vec<_> = summary.steps.iter().zip(&run.steps).filter_map(commit).collect();
    commits.dedup();
    let kits = kits.iter().map(|kit| format!(", in the arithmetic of {kit}"));
    let modes: Vec<_> = kits.chain(commits.iter().map(|commit| format!(", commits {}", escape(commit)))).collect();
    let steps = figure::format_counted(summary.steps.len(), "step");
    format!("{steps} on {}{state}{}", escape(&summary.target), modes.concat())
}

type Ladder<'a> = (BTreeMap<String, String>, Option<&'a KneeSummary>, Vec<&'a StepSummary>);

/// Steps by the values of the other keys, in the order of the steps; each group by rising sessions.
fn ladders<'a>(summary: &'a Summary) -> Vec<Ladder<'a>> {
    let steps = grouped(summary.steps.iter().map(|step| (step.point.without_sessions(), step)));
    let ladder = |(values, mut steps): (BTreeMap<String, String>, Vec<&'a StepSummary>)| {
        steps.sort_by_key(|step| (step.sessions, step.point.drift_check, step.point.pass));
        let knee = ladder::knee(summary, &values);
        (values, knee, steps)
    };
    steps.into_iter().map(ladder).collect()
}

fn table(steps: &[&StepSummary], block_bytes: Option<u64>, words: &Words) -> Table {
    let is_imported = is_imported(steps);
    // If operations are not reported, cache requests, read requests and their time replace them.
    let instead = |figure: Option<f64>| figure.filter(|_| is_imported);
    let mib = |bytes: f64| bytes / 1_048_576.0;
    let read_mib = |step: &StepSummary| {
        let blocks = step.physical_reads_per_s.or(instead(step.process_reads_per_s));
        blocks.zip(step.point.block_bytes().or(block_bytes)).map(|(reads, bytes)| mib(reads * bytes as f64))
    };
    let op = |step: &StepSummary, figure: fn(&OpSummary) -> Option<f64>| maybe(step.ops.main().and_then(figure));
    let limited_by = |step: &StepSummary| {
        limit(step.limited_by.as_deref(), words) + if step.point.drift_check { " (again)" } else { "" }
    };
    let columns: &[Column<&StepSummary>] = &[
        ("sessions", Right, &|step| figure::count(step.sessions)),
        (if is_imported { "LIO/s" } else { "blocks/s" }, Right, &|step| {
            whole(step.blocks_visited_per_s.or(step.logical_reads_per_s))
        }),
        ("reads/s", Right, &|step| whole(instead(step.read_requests_per_s).or(step.physical_reads_per_s))),
        ("MiB/s", Right, &|step| maybe(read_mib(step))),
        ("writes/s", Right, &|step| whole(step.physical_writes_per_s.or(instead(step.write_requests_per_s)))),
        (LOG_RATE, Right, &|step| maybe(step.log_bytes_per_s.map(mib))),
        ("mean us", Right, &|step| maybe(mean_us(step))),
        ("p50 us", Right, &|step| op(step, |op| op.p50_us)),
        ("p99 us", Right, &|step| op(step, |op| op.p99_us)),
        ("hit %", Right, &|step| maybe(step.hit_ratio.map(|share| share * 100.0))),
        ("DB cores", Right, &|step| maybe(step.cpu.db_cores)),
        ("limited by", Left, &|step| limited_by(step)),
    ];
    // Other tools leave most columns unknown.
    let mut shown = columns.to_vec();
    let mut is_first = true;
    shown.retain(|(.., cell)| {
        let is_blank = is_imported && steps.iter().all(|step| cell(step) == figure::UNKNOWN);
        std::mem::take(&mut is_first) || !is_blank
    });
    let mut table = Table::of(steps, &shown);
    table.entitle(LOG_RATE, format!("{} MiB/s", escape(&words.log)));
    table
}

fn mean_us(step: &StepSummary) -> Option<f64> {
    step.ops.main().map_or(step.read_latency_mean_us, |op| op.mean_us)
}

/// Latency against throughput, each step a point called by its sessions; of fewer than three there is no curve.
fn curve(steps: &[&StepSummary]) -> Option<Curve> {
    let latency = |step: &StepSummary| step.ops.main().and_then(|op| op.p99_us);
    let all = || steps.iter().filter(|step| !step.point.drift_check);
    let of_p99 = all().all(|step| latency(step).is_some());
    let spot = |step: &&&StepSummary| {
        let y = if of_p99 { latency(step) } else { mean_us(step) }?;
        Some(Spot { x: throughput(step)?, y, label: figure::count(step.sessions) })
    };
    let spots: Vec<Spot> = all().filter_map(|step| spot(&step)).collect();
    let ([_, far], [least, top]) = (ends(spots.iter().map(|spot| spot.x))?, ends(spots.iter().map(|spot| spot.y))?);
    let low = if goes_by_ratio(least, top) { figure::time_us(least) } else { "0".to_owned() };
    let unit = flow_of(steps).unit();
    let name = if of_p99 { "p99" } else { "mean latency" };
    (spots.len() > 2).then(|| Curve {
        title: format!("{name} of an operation against {unit}; the number is how many sessions worked"),
        spots,
        far: format!("{} {unit}", figure::format_whole(far.max(0.0).round() as u64)),
        ends: [figure::time_us(top), low],
    })
}

fn flow_of(steps: &[&StepSummary]) -> Flow {
    common_flow(steps.iter().copied())
}

fn is_imported(steps: &[&StepSummary]) -> bool {
    steps.iter().all(|step| step.blocks_visited_per_s.is_none())
}

/// Difference between the first step and its repetition at the end.
fn drift(steps: &[&StepSummary]) -> Option<String> {
    let again = steps.iter().find(|step| step.point.drift_check)?;
    let first = steps.iter().find(|step| !step.point.drift_check && step.point.values == again.point.values)?;
    let share = again.blocks_visited_per_s? / first.blocks_visited_per_s.filter(|rate| *rate > 0.0)? - 1.0;
    let sessions = figure::sessions(again.sessions);
    let words = format!("drift: {sessions} again at the end did {:+.1} % of blocks/s", share * 100.0);
    let doubt = if share.abs() > DRIFT { ": smaller differences in this table are not distinguishable" } else { "" };
    Some(words + doubt)
}

/// Capacity by the model of the curve, and the highest measured rate: one is an estimate, the other a measurement.
fn capacity(knee: &KneeSummary, steps: &[&StepSummary]) -> Vec<String> {
    let unit = flow_of(steps).unit();
    let measured = steps.iter().filter_map(|step| Some((throughput(step)?, step.sessions)));
    let most = measured.max_by(|one, other| one.0.total_cmp(&other.0)).map(|(rate, sessions)| {
        format!("highest measured {} {unit} at {}", figure::format_rounded(rate), figure::sessions(sessions))
    });
    let fitted = knee.max_per_s.filter(|_| knee.model.is_some()).map(|rate| {
        let ends = knee.intervals.get(KneeFigure::MaxPerS.name());
        let interval = ends.map(|[low, high]| {
            format!(" (95 % interval {} to {})", figure::format_rounded(*low), figure::format_rounded(*high))
        });
        format!("fitted capacity {} {unit}{}", figure::format_rounded(rate), interval.unwrap_or_default())
    });
    fitted.into_iter().chain(most).collect()
}

fn knee_lines(knee: &KneeSummary, steps: &[&StepSummary]) -> Vec<String> {
    let mut lines = Vec::new();
    if let Some(why) = &knee.why_not {
        lines.push(format!("where queueing sets in is not known: {}", escape(why)));
    }
    lines.extend(capacity(knee, steps));
    let at = |value: Option<f64>, of: KneeFigure| {
        let ends = knee.intervals.get(of.name());
        let interval = ends.map(|[low, high]| format!(" ({} to {})", figure::number(*low), figure::number(*high)));
        let sessions = figure::number(value?);
        let sessions = if sessions == "1.00" { "1 session".to_owned() } else { format!("{sessions} sessions") };
        Some(format!("{sessions}{}", interval.unwrap_or_default()))
    };
    let parts = [
        at(knee.asymptote_sessions, KneeFigure::AsymptoteSessions)
            .map(|at| format!("knee at {at}: queueing dominates above it")),
        at(knee.best_power_sessions, KneeFigure::BestPowerSessions)
            .map(|at| format!("best throughput per latency at {at}")),
        at(knee.peak_sessions, KneeFigure::PeakSessions).map(|at| format!("highest throughput at {at}; more lower it")),
    ];
    lines.extend(parts.into_iter().flatten());
    if let Some(model) = &knee.model {
        lines.push(format!("fitted by the model {}; in brackets 95 % intervals", escape(model)));
    }
    lines
}
