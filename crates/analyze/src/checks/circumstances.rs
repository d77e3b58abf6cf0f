//! Circumstances that changed during a step and affect its figures.

use std::collections::BTreeMap;

use mindful_core::contract::watch::Decides;
use mindful_core::record::run::StepRecord;
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;

use crate::figures::circumstances::{Change, changes};
use crate::figures::window::requested;

const MOST_NAMED: usize = 6;
const LONGEST_VALUE: usize = 120;

/// One finding for each kind of circumstance that changed since it was checked.
pub(super) fn check_step(step: &StepRecord) -> Vec<Finding> {
    let (first, last) = requested(step);
    let (earlier, inside): (Vec<Change>, Vec<Change>) =
        changes(step).into_iter().filter(|change| change.boundary <= last).partition(|change| change.is_before(first));
    let all: Vec<Change> = net(earlier).into_iter().chain(inside).collect();
    let kinds = [Decides::Work, Decides::Layout, Decides::Counters];
    kinds.into_iter().filter_map(|kind| finding(kind, &all, step, first)).collect()
}

/// Changes before the window that were not undone. A counter that was reset cannot be undone, so it is not among them.
fn net(earlier: Vec<Change>) -> Vec<Change> {
    let mut all: BTreeMap<String, Change> = BTreeMap::new();
    for mut change in earlier.into_iter().filter(|change| change.decides != Decides::Counters) {
        if let Some(known) = all.remove(&change.name) {
            change.before = known.before;
        }
        all.insert(change.name.clone(), change);
    }
    all.into_values().filter(|change| change.before != change.after).collect()
}

fn finding(kind: Decides, all: &[Change], step: &StepRecord, first: u32) -> Option<Finding> {
    let of_kind: Vec<&Change> = all.iter().filter(|change| change.decides == kind).collect();
    let mut named: Vec<String> = of_kind.iter().take(MOST_NAMED).map(|change| in_words(change, step, first)).collect();
    if of_kind.len() > MOST_NAMED {
        named.push(format!("{} more", of_kind.len() - MOST_NAMED));
    }
    if named.is_empty() {
        return None;
    }
    let evidence = named.join("; ");
    Some(match kind {
        Decides::Work => codes::SETTING_CHANGED.finding(
            "A setting or a limit changed during the run. The figures describe only a part of the window in which \
             nothing changed. Find out what changed it, and repeat the run.",
            evidence,
        ),
        Decides::Layout => codes::LAYOUT_CHANGED.finding(
            "Tables or files changed during the run, so the proof of their layout no longer holds. The figures describe only \
             a part of the window in which nothing changed. Find out what writes to them, and repeat the run.",
            evidence,
        ),
        Decides::Counters => codes::COUNTERS_RESET.finding(
            "Counters were reset during the run. The figures describe only a part of the window in which they were not \
             reset. Find out what resets them, and repeat the run.",
            evidence,
        ),
    })
}

fn in_words(change: &Change, step: &StepRecord, first: u32) -> String {
    let when = change.when(step, first);
    let shown = |value: &Option<String>| {
        let value = value.as_deref().unwrap_or("unknown");
        let short: String = value.chars().take(LONGEST_VALUE).collect();
        if short.len() < value.len() { format!("{short}...") } else { short }
    };
    match (&change.before, &change.after) {
        (None, None) => format!("{} began again {when}", change.name),
        (before, after) => format!("{}: {} became {} {when}", change.name, shown(before), shown(after)),
    }
}
