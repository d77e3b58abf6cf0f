//! Commits of a database against bare durable writes, for a person.

use mindful_analyze::commit_contrast::{WAY, Way};
use mindful_analyze::{Analysis, StepAnalysis};
use mindful_core::result::{CommitContrastSummary, CommitRow};

use crate::card::limit_of_step;
use crate::panels::Answer;
use crate::panels::Panel;
use crate::table::Side::{Left, Right};
use crate::table::{Column, Table};
use crate::{escape, figure};

/// The panel below the answer: each way to make a write durable, at each load.
pub(crate) fn panel(analysis: &Analysis, contrast: &CommitContrastSummary) -> Panel {
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
    let columns: &[Column<CommitRow>] = &[
        ("way", Left, &|row| escape(&row.name)),
        ("in flight", Right, &|row| row.sessions.to_string()),
        ("commits/s", Right, &|row| figure::format_whole(row.commits_per_s.round() as u64)),
        ("p50 us", Right, &|row| figure::maybe(row.p50_us)),
        ("p99 us", Right, &|row| figure::maybe(row.p99_us)),
        ("commits/sync", Right, &|row| figure::maybe(row.commits_per_sync)),
        ("spread %", Right, &|row| figure::number(row.spread * 100.0)),
    ];
    panel.main_table(Table::of(&contrast.rows, columns));
    panel
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
pub(crate) fn answer(analysis: &Analysis, contrast: &CommitContrastSummary) -> Answer {
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

    #[test]
    fn a_wide_interval_asks_for_more_rounds() {
        assert!(interval(Some([0.001, 167.9])).contains("--repeat"));
        assert_eq!(interval(Some([0.45, 0.55])), "95 % interval 0.450 to 0.550");
    }
}
