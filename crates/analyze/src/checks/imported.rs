//! Findings on the figures of another tool's report.

use mindful_core::contract::metric::Counter;
use mindful_core::contract::wait::WaitClass;
use mindful_core::record::run::StepRecord;
use mindful_core::result::finding::codes;
use mindful_core::result::{Finding, Severity};

use crate::figures::blocks::{FEWEST_READS_PER_S, SINGLE_BLOCK};
use crate::figures::counters::Counters;
use crate::figures::window::Window;
use crate::judgement::headline::percent;
use crate::judgement::verdict::{CONTENTION_SHARE, LITTLE_BREACH};
use crate::step::StepAnalysis;

/// Shortest window, s, in which the averages show more than ramp and tail.
const SHORT_S: f64 = 60.0;

pub(super) fn check_step(step: &StepRecord, window: &Window, found: &StepAnalysis) -> [Option<Finding>; 5] {
    let counters = &found.counters;
    [short(window.seconds()), little(counters), idle_sessions(step, counters), many_blocks(counters), contention(found)]
}

fn short(seconds: f64) -> Option<Finding> {
    (seconds < SHORT_S).then(|| {
        let text = "The report covers less than a minute, so the start and end of the load affect all its averages. \
                    Use a longer report.";
        codes::IMPORTED_DOUBT.finding(text, format!("{seconds:.1} s"))
    })
}

/// Sessions inside single-block reads by their rate and time, and by all read requests with that time.
fn little(counters: &Counters) -> Option<Finding> {
    let requests = counters.rate(Counter::ReadRequests).filter(|rate| *rate >= FEWEST_READS_PER_S)?;
    let waits = counters.rate(Counter::SingleReads).filter(|rate| *rate > 0.0)?;
    let off = (requests - waits).abs() / requests.max(waits);
    let us = counters.ratio(Counter::SingleReadTimeUs, Counter::SingleReads)?;
    (off > LITTLE_BREACH).then(|| {
        let text = "The number of read requests differs from that of single-block waits. Either the requests include \
                    scans, prefetch or background reads, or the report lacks waits. The read latency describes single \
                    blocks only.";
        let evidence = format!(
            "{requests:.0} requests/s, {waits:.0} waits/s: {:.2} against {:.2} sessions reading, {} off",
            requests * us / 1e6,
            waits * us / 1e6,
            percent(off)
        );
        Finding::new(codes::LITTLE, Severity::Info, text, evidence)
    })
}

/// Sessions without think time are always busy: `N = DB time by elapsed time`.
fn idle_sessions(step: &StepRecord, counters: &Counters) -> Option<Finding> {
    let sessions = Some(step.head.session_count() as f64).filter(|sessions| *sessions > 0.0)?;
    let active = counters.rate(Counter::BusyTimeUs)? / 1e6;
    let off = (sessions - active).abs() / sessions;
    (off > LITTLE_BREACH).then(|| {
        let text = "Average active sessions differ from the number of sessions. Sessions paused, started late or \
                    ended early, other sessions were busy, or the report covers more than the load.";
        let evidence = format!("{active:.2} average active sessions of {sessions:.0}: {} off", percent(off));
        codes::IMPORTED_DOUBT.finding(text, evidence)
    })
}

fn many_blocks(counters: &Counters) -> Option<Finding> {
    counters.rate(Counter::ReadRequests).filter(|rate| *rate >= FEWEST_READS_PER_S)?;
    let blocks = counters.ratio(Counter::PhysicalReads, Counter::ReadRequests).filter(|b| *b > SINGLE_BLOCK)?;
    let text = "Read requests contained several blocks (scans or prefetch), so requests per second are not those of \
                random single blocks.";
    Some(codes::PREFETCHED.finding(text, format!("{blocks:.2} blocks a read request")))
}

fn contention(found: &StepAnalysis) -> Option<Finding> {
    let share = found.evidence.shares.get(WaitClass::Contention).filter(|share| *share > CONTENTION_SHARE)?;
    let text = "Sessions waited for each other, so the figures describe their locks, not storage or CPU.";
    Some(codes::CONTENTION.finding(text, format!("{} of database time", percent(share))))
}
