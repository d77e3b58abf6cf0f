//! The parts of a step: its ranks, with work, CPU and the skew of their starts, and its targets.

use mindful_analyze::figures::ranks::busiest;
use mindful_analyze::judgement::verdict::Limit;
use mindful_core::contract::description::Words;
use mindful_core::result::{RankSummary, StepSummary, TargetSummary};

use crate::escape;
use crate::figure::{UNKNOWN, count, ends, format_counted, maybe, number, percent};
use crate::panels::Panel;
use crate::style::Detail;
use crate::table::Side::{Left, Right};
use crate::table::{Column, Table};

/// In short a sentence, in full also a line for each; empty if one process took the step alone.
pub(crate) fn panel(step: &StepSummary, detail: Detail) -> Panel {
    let (mut page, ranks) = (Panel::default(), &step.ranks);
    let Some(first) = ranks.first() else { return page };
    page.blank();
    if ranks.len() < first.of as usize {
        let (rank, of, host) = (first.rank, first.of, escape(&first.host));
        page.wrapped(
            2,
            &format!("rank {rank} of {of}, on {host}: {} of the run", format_counted(first.sessions, "session")),
        );
        return page;
    }
    page.wrapped(2, &in_brief(step));
    if detail == Detail::Full {
        page.table(table(ranks));
    }
    page
}

fn in_brief(step: &StepSummary) -> String {
    let ranks = &step.ranks;
    let hosts: std::collections::BTreeSet<&str> = ranks.iter().map(|rank| rank.host.as_str()).collect();
    let mut parts = vec![format!("{} on {}", format_counted(ranks.len(), "rank"), format_counted(hosts.len(), "host"))];
    if let Some([least, most]) = ends(ranks.iter().filter_map(|rank| rank.ops_share)) {
        parts.push(format!("{} to {} of the operations each", percent(Some(least)), percent(Some(most))));
    }
    if let Some((rank, _)) = busiest(ranks) {
        parts.push(format!("client CPU at most {} on rank {}", cpu(rank), rank.rank));
    }
    parts.extend(step.start_skew_ms.map(|ms| format!("start skew {} ms", number(ms))));
    let clocks = ends(ranks.iter().filter_map(|rank| rank.clock_offset_ms));
    parts.extend(clocks.map(|[low, high]| format!("hosts' clocks {} ms apart", number(high - low))));
    parts.join(", ")
}

/// `0.42 of 2 cores`.
fn cpu(rank: &RankSummary) -> String {
    let may_use = rank.client_cpus.map_or_else(|| UNKNOWN.to_owned(), |cpus| cpus.to_string());
    format!("{} of {may_use} cores", maybe(rank.client_cores))
}

fn table(ranks: &[RankSummary]) -> Table {
    let columns: &[Column<RankSummary>] = &[
        ("rank", Right, &|rank| rank.rank.to_string()),
        ("host", Left, &|rank| escape(&rank.host)),
        ("sessions", Right, &|rank| rank.sessions.to_string()),
        ("operations", Right, &|rank| percent(rank.ops_share)),
        ("client CPU", Right, &cpu),
        ("start skew ms", Right, &|rank| maybe(rank.start_skew_ms)),
        ("clock offset ms", Right, &clock),
    ];
    Table::of(ranks, columns)
}

/// `12.0 +-0.31`: lead of the rendezvous' clock over the host's, and its error.
fn clock(rank: &RankSummary) -> String {
    let within = rank.clock_within_ms.map_or_else(String::new, |ms| format!(" +-{}", number(ms)));
    format!("{}{within}", maybe(rank.clock_offset_ms))
}

/// A line for each target, with its work and whether its figures may be quoted; nothing for one.
pub(crate) fn targets(step: &StepSummary, words: &Words) -> Panel {
    let reads = |target: &TargetSummary| target.step.ops.select.as_ref().and_then(|select| select.p99_us);
    let targets: Vec<(usize, &TargetSummary)> = (1..).zip(&step.targets).collect();
    let columns: &[Column<(usize, &TargetSummary)>] = &[
        ("target", Left, &|(number, target)| format!("{number} {}", escape(&target.target))),
        ("sessions", Right, &|(_, target)| count(target.step.sessions)),
        ("blocks/s", Right, &|(_, target)| maybe(target.step.blocks_visited_per_s)),
        ("physical reads/s", Right, &|(_, target)| maybe(target.step.physical_reads_per_s)),
        ("hits", Right, &|(_, target)| percent(target.step.hit_ratio)),
        ("read p99 us", Right, &|(_, target)| maybe(reads(target))),
        ("limited by", Left, &|(_, target)| limit(target.step.limited_by.as_deref(), words)),
        ("verdict", Left, &|(_, target)| target.validity.name().to_owned()),
    ];
    let mut page = Panel::default();
    page.table_below(Table::of(&targets, columns));
    page
}

/// A limit in the words of the system.
pub(super) fn limit(by: Option<&str>, words: &Words) -> String {
    let called = |by: &str| Limit::parse(by).map_or_else(|_| by.to_owned(), |limit| limit.called(words));
    by.map_or_else(|| UNKNOWN.to_owned(), |by| escape(&called(by)))
}
