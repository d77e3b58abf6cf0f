//! Mindless against mindful I/O for a person: the levels, what lies between them, and the two figures that settle it.

use mindful_core::result::{AddedTime, ContrastSummary, LevelSummary, Summary};

use crate::panels::Panel;
use crate::style::Detail;
use crate::table::{Side, Table};
use crate::{escape, figure};

/// The panels of a contrast: the figures that settle it, what was read, and the levels; in full what each level means.
pub(crate) fn panels(summary: &Summary, contrast: &ContrastSummary, detail: Detail) -> Vec<Panel> {
    let mut what = Panel::default();
    if let Some(step) = summary.steps.first() {
        let (sessions, target) = (figure::sessions(step.sessions), escape(&summary.target));
        what.blank();
        what.wrapped(
            2,
            &if contrast.eta.is_some() {
                format!(
                    "mindless I/O (raw reads that nobody looks at) against mindful I/O (reads by which a database finds \
                     and uses a row): {sessions}, one block at a time each, the same files of {target}. Each level (row) \
                     adds something to the one above it"
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
    let mut sums = Panel::default();
    sums.blank();
    for sentence in settled(contrast) {
        sums.wrapped(2, &sentence);
    }
    let levels = cores.map(|(title, levels)| level_panel(title, levels, detail));
    [sums, what].into_iter().chain(levels).collect()
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

/// What the two figures are and how sure they are, a sentence each: a difference that the rounds do not show is not explained.
fn settled(contrast: &ContrastSummary) -> Vec<String> {
    let (Some(eta), Some(added)) = (contrast.eta, contrast.added_us_per_block) else { return Vec::new() };
    let (share, added_us) = (figure::percent(Some(eta)), figure::number(added));
    let figures = format!(
        "at equal concurrency the database does {share} of the raw reads (ratio of database to raw: {eta:.3}) and adds \
         {added_us} us per block"
    );
    let parts = contrast.added.as_ref().map(|parts| consists_of(parts, added));
    let sure = match contrast.eta_interval {
        None => {
            let once = "one round has no interval: whether another one would tell the same is not known. Two rounds or more, \
                        --repeat, have one";
            return vec![figures, once.to_owned()];
        }
        Some([low, high]) if (low..=high).contains(&1.0) => {
            let same = "database and raw reads are not distinguishable: the ratio by rounds lies between";
            return vec![figures, format!("{same} {low:.3} and {high:.3} (95 %); more rounds narrow that")];
        }
        Some([low, high]) => format!("the ratio by rounds lies between {low:.3} and {high:.3} (95 %)"),
    };
    [figures, sure].into_iter().chain(parts).collect()
}

/// Cores busier than this leave none free for a session that has its block.
const NO_CORE_FREE: f64 = 0.9;

fn consists_of(parts: &AddedTime, added: f64) -> String {
    let busy = figure::percent(parts.host_busy_share);
    let waits = match parts.host_busy_share {
        Some(share) if share > NO_CORE_FREE => {
            format!("waiting, for a core above all: the host's CPUs were {busy} busy")
        }
        _ => format!("waiting, for locks or for its turn: the host's CPUs were {busy} busy"),
    };
    format!(
        "of these {} us, {} are longer reads from storage, {} CPU of the server outside of them, {} {waits}",
        figure::number(added),
        figure::number(parts.storage_us),
        figure::number(parts.cpu_us),
        figure::number(parts.waits_us)
    )
}

fn table(levels: &[LevelSummary]) -> Table {
    let mut table = Table::new(&[
        ("level", Side::Left),
        ("IOPS", Side::Right),
        ("MiB/s", Side::Right),
        ("p50 us", Side::Right),
        ("p99 us", Side::Right),
        ("CPU us/block", Side::Right),
        ("IOPS/core", Side::Right),
        ("spread %", Side::Right),
    ]);
    for level in levels {
        table.row(vec![
            escape(&level.name),
            figure::format_whole(level.iops.round() as u64),
            figure::number(level.mib_per_s),
            level.p50_us.map_or_else(|| figure::UNKNOWN.to_owned(), figure::number),
            level.p99_us.map_or_else(|| figure::UNKNOWN.to_owned(), figure::number),
            level.cpu_us_per_block.map_or_else(|| figure::UNKNOWN.to_owned(), figure::number),
            level
                .iops_per_core
                .map_or_else(|| figure::UNKNOWN.to_owned(), |iops| figure::format_whole(iops.round() as u64)),
            figure::number(level.spread * 100.0),
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reported(eta_interval: Option<[f64; 2]>) -> String {
        let added = AddedTime { storage_us: 1.0, cpu_us: 2.0, waits_us: 3.0, host_busy_share: Some(0.5) };
        let contrast = ContrastSummary {
            pinned: None,
            all_cores: Vec::new(),
            eta: Some(1.11),
            eta_interval,
            added_us_per_block: Some(6.0),
            added: Some(added),
        };
        settled(&contrast).join(" ")
    }

    #[test]
    fn only_a_difference_that_the_rounds_show_is_explained() {
        let explained = |text: &str| text.contains("longer reads from storage");
        let (once, same, apart) = (reported(None), reported(Some([0.94, 1.3])), reported(Some([1.05, 1.18])));
        assert!(once.contains("one round has no interval") && !explained(&once), "{once}");
        assert!(
            same.contains("not distinguishable") && same.contains("0.940 and 1.300") && !explained(&same),
            "{same}"
        );
        assert!(apart.contains("between 1.050 and 1.180") && explained(&apart), "{apart}");
    }
}
