//! Sessions that stood still inside operations, all at once or single ones, and operations much slower than others.

use mindful_core::contract::metric::Counter;
use mindful_core::plan::units::{format_counted, format_rounded};
use mindful_core::record::run::StepRecord;
use mindful_core::result::finding::codes;
use mindful_core::result::{Finding, Severity};
use mindful_core::workload::OpKind;

use crate::figures::latency::{SLOW, Slow};
use crate::figures::shares::Shares;
use crate::figures::stalls::{Stall, meanwhile};
use crate::figures::window::Window;
use crate::figures::work::Work;
use crate::judgement::headline::percent;
use crate::step::StepAnalysis;

/// Share of the time of all sessions that single ones may stall before the result is suspect.
pub(crate) const ALONE_SHARE: f64 = 0.01;

pub(super) fn check_step(
    step: &StepRecord,
    window: &Window,
    work: &Work,
    found: &StepAnalysis,
) -> [Option<Finding>; 2] {
    [together(step, window, work, found), alone(window, work, found)]
}

fn together(step: &StepRecord, window: &Window, work: &Work, found: &StepAnalysis) -> Option<Finding> {
    let (stalls, longest) = (&found.stalls, found.stalls.longest()?);
    let stood_s = stalls.us() as f64 / 1e6;
    let times = times(stalls.together.len(), stood_s);
    let evidence = format!(
        "{times}{}, {} at once; {} of the window{}{}",
        when(longest, window),
        sessions(longest.sessions, work.sessions),
        percent(stood_s / window.seconds()),
        rates(step, window, work, found),
        what_else(step, window, longest, found),
    );
    let text = "Sessions were inside operations and none of these ended: the server, its storage or the host \
                stopped. Rates and latencies include that time. Find what stopped, and repeat the run.";
    Some(codes::STALL.finding(text, evidence))
}

fn alone(window: &Window, work: &Work, found: &StepAnalysis) -> Option<Finding> {
    let alone = &found.stalls.alone;
    let (session, longest) = alone.first()?;
    let stood_s = alone.iter().map(|(_, stall)| stall.us() as f64 / 1e6).sum::<f64>();
    let share = stood_s / window.seconds() / f64::from(work.sessions);
    let severity = if share > ALONE_SHARE { Severity::Warning } else { Severity::Info };
    let times = times(alone.len(), stood_s);
    let evidence = format!(
        "{times}session {} {}; {} of the time of all sessions",
        session + 1,
        when(longest, window),
        percent(share)
    );
    let text = "Single sessions stopped inside an operation while others continued. Causes are a lock, a stopped \
                process, or a very long I/O. Look at what the server did at that time.";
    Some(Finding::new(codes::SESSION_STALL, severity, text, evidence))
}

/// The begin of a sentence about several stalls.
fn times(count: usize, stood_s: f64) -> String {
    if count > 1 { format!("{count} times, {stood_s:.2} s in all, the longest ") } else { String::new() }
}

/// `3.01 s from 4.02 s of the window on`.
fn when(stall: &Stall, window: &Window) -> String {
    let at_s = stall.span.0.saturating_sub(window.begin_us) as f64 / 1e6;
    format!("{:.2} s from {at_s:.2} s of the window on", stall.us() as f64 / 1e6)
}

fn sessions(stood: usize, all: u32) -> String {
    match stood as u32 {
        stood if stood < all => format!("{stood} of {}", format_counted(all, "session")),
        _ if all == 1 => "the one session".to_owned(),
        _ => format!("all {}", format_counted(all, "session")),
    }
}

fn rates(step: &StepRecord, window: &Window, work: &Work, found: &StepAnalysis) -> String {
    let with = work.blocks() / work.seconds;
    let without = found.stalls.blocks_per_s_without(step, window);
    without.map_or_else(String::new, |rate| {
        format!("; {} blocks/s with it, {} in the slices without", format_rounded(with), format_rounded(rate))
    })
}

/// Device activity and waits during the stall, if known.
fn what_else(step: &StepRecord, window: &Window, stall: &Stall, found: &StepAnalysis) -> String {
    let (then, within) = meanwhile(step, window, stall.span);
    let mut known = Vec::new();
    let all = |counter| found.counters.rate(counter);
    let reads = then.rate(Counter::DeviceReads).zip(all(Counter::DeviceReads));
    let writes = then.rate(Counter::DeviceWrites).zip(all(Counter::DeviceWrites));
    for (what, rates) in [("reads", reads), ("writes", writes)] {
        if let Some((then, all)) = rates.filter(|(then, all)| *then >= 0.5 || *all >= 0.5) {
            let [then, all] = [then, all].map(format_rounded);
            known.push(format!("{then} device {what}/s ({all} over the window)"));
        }
    }
    if let Some((class, share)) = Shares::from_work(None, &then).top(1).first() {
        known.push(format!("sessions {} on {}", percent(*share), class.name_in(&found.evidence.words)));
    }
    let place = if within { "within it" } else { "in the slices around it" };
    if known.is_empty() { String::new() } else { format!("; {place} {}", known.join(", ")) }
}

/// Share of operations below which slow ones are beyond p99.
const FEW: f64 = 0.01;
/// Share of the time above which they weigh.
const MUCH: f64 = 0.2;
/// Fewest slow operations that are more than a hiccup, as for a percentile.
const FEWEST: u64 = 10;

/// Each kind of operation in which a few took much of the time (docs/findings.md, F24). These are too rare for the usual
/// percentiles, and a mean describes neither them nor the rest.
pub(super) fn slow_few(work: &Work) -> impl Iterator<Item = Finding> {
    OpKind::ALL.into_iter().filter_map(|kind| {
        let slow = Slow::from_work(work.kind(kind))?;
        let weighs = slow.ops >= FEWEST && slow.ops_share < FEW && slow.time_share > MUCH;
        weighs.then(|| {
            let text = "Few operations took much of the time. The mean describes neither these nor the others, and \
                        p99 excludes them. `mindful show --heat-map` shows when they occurred and how slow they \
                        were.";
            let (ops, time) = (percent(slow.ops_share), percent(slow.time_share));
            let above = slow.above_us;
            let evidence = format!(
                "{}: {ops} of operations took longer than {SLOW} times the median ({above:.0} us), {time} of the time",
                kind.name()
            );
            codes::SLOW_FEW.finding(text, evidence)
        })
    })
}
