//! The log of updates: commits that did not wait for it, and its amount.

use mindful_core::contract::metric::Counter;
use mindful_core::plan::units::format_rounded;
use mindful_core::record::run::{Run, StepRecord};
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;
use mindful_core::workload::{Commit, Compatibility, OpKind, Redo};

use crate::step::StepAnalysis;

const FEWEST_UPDATES: f64 = 100.0;
/// Share of the updates that must have committed: the counters are of a window that is not quite the sessions'.
const COMMITTED: f64 = 0.9;
/// Share of the commits that must have waited: both are counted at once.
const WAITED: f64 = 0.99;
/// Fewest bytes of log that the change of a row takes; less, and nothing was changed.
const LEAST_LOG: f64 = 50.0;

/// Updates, commits, waits for the log and bytes of it, each compared with the others where every update commits and waits.
pub(super) fn commits_unproven(step: &StepRecord, found: &StepAnalysis) -> Option<Finding> {
    let workload = step.head.workload.as_ref()?;
    let waits =
        workload.commit == Commit::Each && workload.commit_wait && workload.compatibility != Compatibility::Slob;
    let work = found.work.as_ref()?;
    let updates = work.kind(OpKind::Update);
    let rates = [Counter::Commits, Counter::CommitWaits].map(|counter| found.counters.rate(counter));
    let ([Some(commits), Some(waited)], true) = (rates, waits && updates.ops >= FEWEST_UPDATES) else { return None };
    let per_s = |count: f64| count / work.seconds;
    let log = found.counters.rate(Counter::LogBytes);
    let thin = log.is_some_and(|bytes| bytes < LEAST_LOG * per_s(updates.blocks));
    if commits >= COMMITTED * per_s(updates.ops) && waited >= WAITED * commits && !thin {
        return None;
    }
    let name = &found.evidence.words.log;
    let text = format!(
        "Updates, commits and waits for the {name} do not match, so commits did not wait until their {name} was stored. \
         Check the server's commit settings."
    );
    let bytes = log.map_or_else(String::new, |log| {
        format!(", {} bytes of {name} a block", format_rounded(log / per_s(updates.blocks)))
    });
    let done = per_s(updates.ops);
    let [done, commits, waited] = [done, commits, waited].map(format_rounded);
    let evidence = format!("{done} updates/s, {commits} commits/s, {waited} waits for the {name}/s{bytes}");
    Some(codes::COMMITS_UNPROVEN.finding(text, evidence))
}

/// Fewest updated blocks for a meaningful mean: the server's own log records are few compared with them.
const FEWEST_BLOCKS: f64 = 2_000.0;

/// Bytes of log per updated block outside of what the engine expects, images of whole blocks included.
pub(super) fn log_band(run: &Run, step: &StepRecord, found: &StepAnalysis) -> Option<Finding> {
    let expected = run.description.as_ref()?.expected_log.as_ref()?;
    let work = found.work.as_ref()?;
    let updated = work.kind(OpKind::Update).blocks;
    let workload = step.head.workload.as_ref()?;
    if updated < FEWEST_BLOCKS || (expected.once_a_transaction && workload.commit != Commit::Each) {
        return None;
    }
    let per_s = updated / work.seconds;
    let [low, high] = match workload.redo {
        Redo::Light => expected.light,
        Redo::Heavy => expected.heavy,
    };
    // Where images are not counted, each block may have had one.
    let images = expected.images.as_ref().map_or(0.0, |images| {
        found.counters.rate_of_named(&images.counter).map_or(1.0, |rate| rate / per_s) * images.bytes
    });
    let (per_block, high) = (found.counters.rate(Counter::LogBytes)? / per_s, high + images);
    (per_block < low || per_block > high).then(|| {
        let log = &found.evidence.words.log;
        let text = format!(
            "The {log} for each updated block differs from the amount that such updates write. Other sessions write {log}, \
             updates leave their block, or updates change nothing. Look for other sessions."
        );
        let [per_block, low, high] = [per_block, low, high].map(format_rounded);
        let evidence = format!("{per_block} bytes per updated block, {low} to {high} expected");
        codes::LOG_BAND.finding(text, evidence)
    })
}
