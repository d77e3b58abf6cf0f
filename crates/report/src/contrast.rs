//! Mindless against mindful I/O for a person: the rungs, what lies between them, and the two figures that settle it.

use std::fmt::Write as _;

use mindful_core::result::{ContrastSummary, RungSummary, Summary};

use crate::table::{Side, Table, wrap};
use crate::{Style, escape, figure};

/// The screen.
pub fn report(summary: &Summary, contrast: &ContrastSummary, style: &Style) -> String {
    let mut text = String::new();
    if let Some(step) = summary.steps.first() {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "mindless against mindful: {} sessions, one block read at a time by each, the same files of {}",
            step.sessions,
            escape(&summary.target)
        );
    }
    for (title, rungs) in [("all cores", &contrast.all_cores), ("one core", &contrast.pinned)] {
        let _ = writeln!(text, "\n{title}");
        for line in table(rungs).lines(style.columns().saturating_sub(2)) {
            let _ = writeln!(text, "  {line}");
        }
        for means in rungs.iter().filter_map(|rung| rung.means.as_deref()) {
            for (at, line) in wrap(means, style.columns().saturating_sub(4)).iter().enumerate() {
                let _ = writeln!(text, "  {}{line}", if at == 0 { "" } else { "  " });
            }
        }
    }
    if let (Some(eta), Some(added)) = (contrast.eta, contrast.added_us_per_block) {
        let _ = writeln!(
            text,
            "\nthe database does {} of the raw reads at equal concurrency (eta {eta:.3}) and adds {} us to a block",
            figure::percent(Some(eta)),
            figure::number(added)
        );
    }
    for finding in &summary.findings {
        let _ = writeln!(text, "{}: {}", escape(&finding.code), escape(&finding.evidence));
    }
    let _ = writeln!(text, "\nrun {}", escape(&summary.id));
    text
}

fn table(rungs: &[RungSummary]) -> Table {
    let mut table = Table::new(&[
        ("rung", Side::Left),
        ("IOPS", Side::Right),
        ("MiB/s", Side::Right),
        ("p50 us", Side::Right),
        ("p99 us", Side::Right),
        ("CPU us a block", Side::Right),
        ("IOPS per core", Side::Right),
        ("spread %", Side::Right),
    ]);
    for rung in rungs {
        table.row(vec![
            escape(&rung.rung),
            figure::whole(rung.iops.round() as u64),
            figure::number(rung.mib_per_s),
            figure::number(rung.p50_us),
            figure::number(rung.p99_us),
            figure::number(rung.cpu_us_per_block),
            figure::whole(rung.iops_per_core.round() as u64),
            figure::number(rung.spread * 100.0),
        ]);
    }
    table
}
