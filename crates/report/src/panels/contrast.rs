//! A contrast as text: the ratio of database to raw, the levels, and the differences between them.

use mindful_core::result::{AddedTime, ContrastSummary, LevelSummary, Summary};

use crate::panels::Answer;
use crate::panels::Panel;
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
    let interval = match contrast.eta_interval {
        Some([low, high]) => format!("95 % interval {low:.3} to {high:.3}"),
        None => "one round has no interval".to_owned(),
    };
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
}
