//! Whether the rate was steady in the window, by the criteria of a steady state (docs/method.md, Steady state).

use mindful_core::plan::units::{format_counted, format_rounded};
use mindful_core::record::run::StepRecord;
use mindful_core::result::finding::codes;
use mindful_core::result::{Finding, Severity};

use crate::figures::seconds::Seconds;
use crate::figures::window::Window;
use crate::judgement::headline::percent;
use crate::stats::moment::{batch_means, mean};
use crate::steady::settling::criteria;
use crate::steady::{End, Movement, Reason, Signals, WINDOW_S, assess, movement, swing};

/// A window that is long enough is compared with the criteria of a steady state (docs/method.md, Steady state).
pub(super) fn not_steady(step: &StepRecord, window: &Window) -> Option<Finding> {
    // A step that went on until it was steady was judged then.
    if step.window.is_some() {
        return None;
    }
    let seconds = Seconds::from_step(step, window);
    if seconds.blocks_per_s.len() < WINDOW_S {
        return None;
    }
    let reason = *assess(&Signals::from_seconds(&seconds), &criteria(step)).reasons.first()?;
    let text = "Throughput was not steady, so its mean describes no part of the window. Use a longer --warmup or \
                --duration, or find the cause.";
    (!matches!(reason, Reason::TooShort { .. })).then(|| codes::NOT_STEADY.finding(text, in_words(reason)))
}

/// Fewest operations of a point: the number of fewer varies by 7 % and more if nothing else does.
const OPS_OF_A_POINT: f64 = 200.0;

/// Change of the rate in the window: it moved in one direction, or went up and down.
pub(super) fn rate_changed(step: &StepRecord, window: &Window, is_disturbed: bool) -> Option<Finding> {
    // A step that went on until it was steady was judged then.
    if step.window.is_some() {
        return None;
    }
    let seconds = Seconds::from_step(step, window);
    let slice_s = window.seconds() / seconds.ops_per_s.len().max(1) as f64;
    let ops = mean(&seconds.ops_per_s).filter(|ops| *ops > 0.0)? * slice_s;
    let slices_of_a_point = (OPS_OF_A_POINT / ops).ceil().max(1.0) as usize;
    let rates = batch_means(&seconds.blocks_per_s, slices_of_a_point);
    let point_s = slice_s * slices_of_a_point as f64;
    let moved = movement(&rates).filter(Movement::shows);
    let changed = match moved.filter(Movement::misleads) {
        Some(moved) => rate_moved(&moved, &seconds.hit_ratio),
        None => rate_swings(&rates, point_s).or_else(|| Some(rate_moved(&moved?, &seconds.hit_ratio)))?,
    };
    Some(if is_disturbed { caused_by_other_work(changed) } else { changed })
}

/// `changed` in a run that other work disturbed: no other plan helps.
fn caused_by_other_work(changed: Finding) -> Finding {
    let what = changed.text.split_once(". ").map_or(&*changed.text, |(what, _)| what);
    Finding {
        text: format!("{what}. Other work disturbed the run, which can be the cause: measure without it."),
        ..changed
    }
}

/// The mean of a swinging rate is a value that the rate never has.
fn rate_swings(rates: &[f64], point_s: f64) -> Option<Finding> {
    let swing = swing(rates)?;
    let text = "The rate went up and down within the window, so the mean describes none of its slices. Look for a \
                limit that applies periodically, a periodic job, or another load on the host.";
    let period = swing.period.map_or_else(
        || ", without a period that this window shows".to_owned(),
        |period| format!(", with a period of {:.1} s", period as f64 * point_s),
    );
    let evidence = format!(
        "{} to {} blocks/s in slices of {point_s:.1} s{period}",
        format_rounded(swing.low),
        format_rounded(swing.high)
    );
    Some(codes::RATE_SWINGS.finding(text, evidence))
}

/// A rate that rises or falls through the whole window, or differs at one of its ends: its mean describes no instant
/// (docs/method.md, Steady state).
fn rate_moved(moved: &Movement, hit_ratio: &[f64]) -> Finding {
    let (text, evidence) = match moved.end.filter(|_| !moved.all_through()) {
        Some(end) => moved_at_an_end(&end),
        None => moved_all_through(moved, hit_ratio),
    };
    let severity = if moved.misleads() { Severity::Warning } else { Severity::Info };
    Finding::new(codes::RATE_MOVED, severity, text, evidence)
}

fn moved_all_through(moved: &Movement, hit_ratio: &[f64]) -> (String, String) {
    let way = if moved.change > 0.0 { "rose" } else { "fell" };
    let text = format!(
        "The rate {way} over the window by more than its noise, so the mean describes neither its start nor its end. \
         Use a longer --warmup or --steady, or find the cause."
    );
    let hits = movement(hit_ratio).map(|hits| format!(", its hit ratio by {:+.1} %", 100.0 * hits.change));
    let evidence = format!(
        "{:+.1} % from the first third of the window to the last{}",
        100.0 * moved.change,
        hits.unwrap_or_default()
    );
    (text, evidence)
}

fn moved_at_an_end(end: &End) -> (String, String) {
    let (text, place, others) = if end.first {
        let text = "The window began before the rate was level, so the mean is between the first rate and the later \
                    one. Use a longer --warmup or --steady.";
        (text, "first", "then")
    } else {
        let text = "The rate changed before the window ended, so the mean is between the earlier rate and the last \
                    one. Use a longer --duration, or find the cause.";
        (text, "last", "before")
    };
    let evidence = format!(
        "{:.0} blocks/s in the {place} {} of the window, {:.0} {others}",
        end.rate,
        format_counted(end.points, "slice"),
        end.level
    );
    (text.to_owned(), evidence)
}

pub fn in_words(reason: Reason) -> String {
    match reason {
        Reason::WarmingUp => "more than half of the window still looks like warm-up".to_owned(),
        Reason::CacheWarming { change } => format!("the hit ratio moved by {} over the window", percent(change)),
        Reason::Drift { change } => format!("throughput moved by {} over the window", percent(change)),
        Reason::Cycle { period_s, range } => format!("a cycle of {period_s} s with a range of {}", percent(range)),
        Reason::Swings { range } => format!("swings with a range of {}", percent(range)),
        Reason::Change(change) => {
            let [before, after] = [change.before, change.after].map(format_rounded);
            format!("from {before} to {after} blocks/s at {} s", change.at_s)
        }
        Reason::Checkpoints { whole } => format_counted(whole, "whole checkpoint cycle"),
        Reason::TooShort { have_s, need_s } => format!("{have_s} s are too short to judge; {need_s} s are needed"),
    }
}
