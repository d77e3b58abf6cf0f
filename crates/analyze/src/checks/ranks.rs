//! Findings on a step that several ranks took together.

use mindful_core::plan::units::format_counted;
use mindful_core::record::run::Run;
use mindful_core::result::finding::codes;
use mindful_core::result::{Finding, RankSummary};

use crate::figures::ranks::busiest;
use crate::judgement::verdict::CLIENT_BUSY;
use crate::step::StepAnalysis;

/// Distance of host clocks above which their records of one second cannot be compared, ms.
const CLOCKS_APART_MS: f64 = 1_000.0;

pub(super) fn check_step(run: &Run, found: &StepAnalysis) -> Vec<Finding> {
    let (ranks, in_process) = (&found.summary.ranks, run.host.as_ref().is_some_and(|host| host.in_process));
    let bound = if in_process { None } else { client_bound(ranks) };
    part(ranks).into_iter().chain(bound).chain(clocks_apart(ranks)).collect()
}

/// Which rank began last, as the end of a sentence; nothing where there is one.
pub(crate) fn last_to_start(ranks: &[RankSummary]) -> String {
    let skew = |rank: &RankSummary| rank.start_skew_ms.unwrap_or(0.0);
    let last = ranks.iter().max_by(|one, other| skew(one).total_cmp(&skew(other))).filter(|_| ranks.len() > 1);
    last.map_or_else(String::new, |rank| format!(", the last of {}", named(rank)))
}

fn named(rank: &RankSummary) -> String {
    format!("rank {} on {}", rank.rank, rank.host)
}

fn part(ranks: &[RankSummary]) -> Option<Finding> {
    let [rank] = ranks else { return None };
    let text = "This is the part of one rank. Operations and latencies describe its own sessions, while the target \
                counts all ranks. Show the run that rank 0 stored, or `mindful merge` the folders of all ranks.";
    let evidence =
        format!("rank {} of {} on {}, {}", rank.rank, rank.of, rank.host, format_counted(rank.sessions, "session"));
    (rank.of > 1).then(|| codes::PART_OF_RUN.finding(text, evidence))
}

fn client_bound(ranks: &[RankSummary]) -> Option<Finding> {
    let (fullest, _) = busiest(ranks)?;
    let full = |rank: &&RankSummary| busiest(std::slice::from_ref(*rank)).is_some_and(|(_, busy)| busy > CLIENT_BUSY);
    let others = ranks.iter().filter(full).count().checked_sub(1)?;
    let (cores, cpus) = fullest.client_cores.zip(fullest.client_cpus)?;
    let text = "mindful used all of its CPUs on a rank, so the figures are that client's. Use a larger host for it, \
                or more ranks.";
    let more = if others > 0 { format!(", and {} more", format_counted(others, "rank")) } else { String::new() };
    let evidence = format!("{}: {cores:.2} of {cpus} CPUs that it may use{more}", named(fullest));
    Some(codes::CLIENT_BOUND.finding(text, evidence))
}

pub(crate) fn clocks_apart(ranks: &[RankSummary]) -> Option<Finding> {
    let offset = |rank: &RankSummary| rank.clock_offset_ms;
    let by_offset =
        |one: &&RankSummary, other: &&RankSummary| offset(one).unwrap_or(0.0).total_cmp(&offset(other).unwrap_or(0.0));
    let known = || ranks.iter().filter(|rank| offset(rank).is_some());
    let (ahead, behind) = (known().min_by(by_offset)?, known().max_by(by_offset)?);
    let apart_ms = offset(behind)? - offset(ahead)?;
    let unsure_ms = ahead.clock_within_ms.unwrap_or(0.0) + behind.clock_within_ms.unwrap_or(0.0);
    (apart_ms - unsure_ms > CLOCKS_APART_MS).then(|| {
        let text = "The clocks of the ranks' hosts differ. The window is correct, because ranks start by the clock \
                    of their meeting place. Logs of these hosts show different times: chronyc tracking.";
        let evidence = format!("{:.2} s between {} and {}", apart_ms / 1e3, named(ahead), named(behind));
        codes::CLOCKS_APART.finding(text, evidence)
    })
}
