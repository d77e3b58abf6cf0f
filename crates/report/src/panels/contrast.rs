//! Contrasts as text: the ratio of database to raw, the levels, and the differences between them; commits against bare
//! durable writes.

use mindful_analyze::commit_contrast::{WAY, Way};
use mindful_analyze::{Analysis, StepAnalysis};
use mindful_core::result::{AddedTime, CommitContrastSummary, CommitRow, ContrastSummary, LevelSummary, Summary};

use crate::card::limit_of_step;
use crate::panels::{Answer, Panel};
use crate::style::Detail;
use crate::table::Side::{Left, Right};
use crate::table::{Column, Table};
use crate::{escape, figure};

/// The panels of a contrast below its answer: the blocks read, and the levels; in full the meaning of each level.
pub(crate) fn panels(summary: &Summary, contrast: &ContrastSummary, detail: Detail) -> Vec<Panel> {
    let mut what = Panel::default();
    if let Some(step) = summary.steps.first() {
        let (sessions, target) = (figure::sessions(step.sessions), escape(&summary.target));
        what.blank();
        what.wrapped(
            2,
            &if contrast.eta.is_some() {
                format!(
                    "mindless I/O (raw reads into memory that is not examined) against mindful I/O (reads by which a database finds \
                     and uses a row): {sessions}, one block at a time each, the same files of {target}. Each level (row) \
                     differs from the one above it in one thing"
                )
            } else {
                format!(
                    "the database's side of a contrast: reads by which {target} finds and uses a row, {sessions}, one \
                     block at a time each; the ratio of database to raw is not known"
                )
            },
        );
    }
    let pinned = contrast.pinned.as_ref().map(|levels| ("one core", levels));
    let cores = std::iter::once(("all cores", &contrast.all_cores)).chain(pinned);
    let levels = cores.map(|(title, levels)| level_panel(title, levels, detail));
    std::iter::once(what).chain(levels).collect()
}

fn level_panel(title: &str, levels: &[LevelSummary], detail: Detail) -> Panel {
    let mut panel = Panel::default();
    panel.blank();
    panel.add_line(title);
    panel.main_table(table(levels));
    for means in levels.iter().filter_map(|level| level.means.as_deref()).filter(|_| detail == Detail::Full) {
        panel.paragraph(2, 4, 4, means);
    }
    panel
}

/// The ratio of database to raw with its interval, and the parts of the difference, if the rounds show one.
pub(crate) fn answer(contrast: &ContrastSummary) -> Answer {
    let (Some(ratio), Some(added)) = (contrast.eta, contrast.added_us_per_block) else {
        return Answer {
            sentence: "ratio of database to raw: unknown, because the raw reads were not measured".to_owned(),
            details: String::new(),
            found: true,
        };
    };
    let interval = interval(contrast.eta_interval);
    let details = match contrast.differs() {
        None => "two rounds or more (--repeat) have an interval".to_owned(),
        Some(false) => "the rounds do not distinguish the database from raw reads; more rounds (--repeat) narrow the \
                        interval"
            .to_owned(),
        Some(true) => {
            let us = figure::number(added.abs());
            let whole = if added < 0.0 {
                format!("a block takes {us} us less with the database than with a raw read at equal concurrency")
            } else {
                format!("the database adds {us} us to a block at equal concurrency")
            };
            let parts = contrast.added.as_ref().map(consists_of);
            [whole].into_iter().chain(parts).collect::<Vec<_>>().join("; ")
        }
    };
    Answer { sentence: format!("ratio of database to raw: {ratio:.3} ({interval})"), details, found: true }
}

/// Above this use of the cores, a session that has its block finds no free one.
const NO_CORE_FREE: f64 = 0.9;

fn consists_of(parts: &AddedTime) -> String {
    let busy = figure::percent(parts.host_busy_share);
    let waits = match parts.host_busy_share {
        Some(share) if share > NO_CORE_FREE => "waits, mostly for a core",
        _ => "waits, for locks or for its turn",
    };
    format!(
        "in reads from storage {:+.2} us, in CPU of the server outside of them {:+.2} us, in {waits}, {:+.2} us (the \
         host's CPUs were {busy} busy)",
        parts.storage_us, parts.cpu_us, parts.waits_us
    )
}

fn table(levels: &[LevelSummary]) -> Table {
    let columns: &[Column<LevelSummary>] = &[
        ("level", Left, &|level| escape(&level.name)),
        ("IOPS", Right, &|level| figure::format_rounded(level.iops)),
        ("MiB/s", Right, &|level| figure::number(level.mib_per_s)),
        ("p50 us", Right, &|level| figure::maybe(level.p50_us)),
        ("p99 us", Right, &|level| figure::maybe(level.p99_us)),
        ("CPU us/block", Right, &|level| figure::maybe(level.cpu_us_per_block)),
        ("IOPS/core", Right, &|level| figure::whole(level.iops_per_core)),
        ("spread %", Right, &|level| figure::number(level.spread * 100.0)),
    ];
    Table::of(levels, columns)
}

/// The panel below the answer: each way to make a write durable, at each load.
pub(crate) fn commits(analysis: &Analysis, contrast: &CommitContrastSummary) -> Panel {
    let mut panel = Panel::default();
    let volumes = of_database(analysis).find_map(|step| step.evidence.commits.volumes.as_deref());
    let volumes = volumes.map_or_else(String::new, |volumes| format!(" ({})", escape(volumes)));
    panel.blank();
    panel.wrapped(
        2,
        &format!(
            "bare writes of 8 KiB that are made durable, one after another and several in flight, against commits of {}, \
             on the file system of its log and in turn{volumes}",
            escape(&analysis.summary.target)
        ),
    );
    panel.blank();
    panel.main_table(commit_table(contrast));
    panel
}

pub(crate) fn commit_table(contrast: &CommitContrastSummary) -> Table {
    let columns: &[Column<CommitRow>] = &[
        ("way", Left, &|row| escape(&row.name)),
        ("in flight", Right, &|row| row.sessions.to_string()),
        ("commits/s", Right, &|row| figure::format_whole(row.commits_per_s.round() as u64)),
        ("p50 us", Right, &|row| figure::maybe(row.p50_us)),
        ("p99 us", Right, &|row| figure::maybe(row.p99_us)),
        ("commits/sync", Right, &|row| figure::maybe(row.commits_per_sync)),
        ("spread %", Right, &|row| figure::number(row.spread * 100.0)),
    ];
    Table::of(&contrast.rows, columns)
}

/// The interval of the ratio; one that spans a factor of two decides little.
fn interval(ends: Option<[f64; 2]>) -> String {
    match ends {
        Some([low, high]) if high > 2.0 * low => {
            format!("95 % interval {low:.3} to {high:.3}: pass a larger --repeat to narrow it")
        }
        Some([low, high]) => format!("95 % interval {low:.3} to {high:.3}"),
        None => "one round has no interval".to_owned(),
    }
}

fn of_database(analysis: &Analysis) -> impl Iterator<Item = &StepAnalysis> {
    let way = |step: &StepAnalysis| step.summary.point.values.get(WAY).cloned();
    analysis.steps.iter().filter(move |step| way(step).as_deref() == Some(Way::Database.name()))
}

/// The ratio of commits to bare writes at one session, with its interval, and the limit at the most commits.
pub(crate) fn commit_answer(analysis: &Analysis, contrast: &CommitContrastSummary) -> Answer {
    let interval = interval(contrast.ratio_interval);
    let sentence = match contrast.ratio {
        Some(ratio) => format!("ratio of commits to bare writes with fdatasync, one session: {ratio:.3} ({interval})"),
        None => "ratio of commits to bare writes: unknown, because one of them was not measured".to_owned(),
    };
    let best = contrast.rows.iter().filter(|row| row.name == Way::Database.name());
    let best = best.max_by(|a, b| a.commits_per_s.total_cmp(&b.commits_per_s));
    let details = best.map_or_else(String::new, |row| {
        let sync = row.commits_per_sync.map_or_else(String::new, |n| format!(", {} commits a sync", figure::number(n)));
        let rate = figure::number(row.commits_per_s);
        let limit = of_database(analysis).find(|step| step.summary.sessions == Some(row.sessions));
        let limit = limit.and_then(limit_of_step).map_or_else(String::new, |limit| format!(", {limit}"));
        format!("most commits: {rate}/s with {}{sync}{limit}", figure::sessions(Some(row.sessions)))
    });
    Answer { sentence, details, found: true }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(eta_interval: Option<[f64; 2]>, added_us: f64) -> String {
        let added = AddedTime { storage_us: 1.0, cpu_us: 2.0, waits_us: added_us - 3.0, host_busy_share: Some(0.5) };
        let contrast = ContrastSummary {
            pinned: None,
            all_cores: Vec::new(),
            eta: Some(1.11),
            eta_interval,
            added_us_per_block: Some(added_us),
            added: Some(added),
        };
        let Answer { sentence, details, .. } = answer(&contrast);
        format!("{sentence}. {details}")
    }

    #[test]
    fn only_a_difference_that_the_rounds_show_is_explained() {
        let explained = |text: &str| text.contains("in reads from storage");
        let once = reported(None, 6.0);
        assert!(once.starts_with("ratio of database to raw: 1.110 (one round has no interval)"), "{once}");
        let same = reported(Some([0.94, 1.3]), 6.0);
        assert!(same.contains("(95 % interval 0.940 to 1.300)") && same.contains("do not distinguish"), "{same}");
        assert!(!explained(&once) && !explained(&same) && !same.contains("adds"), "{once}\n{same}");
        let apart = reported(Some([1.05, 1.18]), 6.0);
        assert!(apart.contains("the database adds 6.00 us") && explained(&apart), "{apart}");
        let less = reported(Some([1.05, 1.18]), -6.0);
        assert!(less.contains("a block takes 6.00 us less") && !less.contains("adds"), "{less}");
    }

    #[test]
    fn a_wide_interval_asks_for_more_rounds() {
        assert!(interval(Some([0.001, 167.9])).contains("--repeat"));
        assert_eq!(interval(Some([0.45, 0.55])), "95 % interval 0.450 to 0.550");
    }
}
