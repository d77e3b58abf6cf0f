//! Mindless against mindful I/O for a person: the rungs, what lies between them, and the two figures that settle it.

use std::fmt::Write as _;

use mindful_core::result::{AddedTime, ContrastSummary, RungSummary, Summary};

use crate::table::{Side, Table, wrap};
use crate::{Style, escape, figure};

/// The screen.
pub fn report(summary: &Summary, contrast: &ContrastSummary, style: &Style) -> String {
    let mut text = String::new();
    if let Some(step) = summary.steps.first() {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "mindless against mindful: {}, one block read at a time by each, the same files of {}",
            figure::sessions(step.sessions),
            escape(&summary.target)
        );
    }
    let pinned = contrast.pinned.as_ref().map(|rungs| ("one core", rungs));
    for (title, rungs) in std::iter::once(("all cores", &contrast.all_cores)).chain(pinned) {
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
        let parts = contrast.added.as_ref().map(|parts| consists_of(parts, added));
        for line in parts.iter().flat_map(|text| wrap(text, style.columns())) {
            let _ = writeln!(text, "{line}");
        }
    }
    text.push_str(&crate::sweep::findings(&summary.findings));
    let _ = writeln!(text, "\nrun {}", escape(&summary.id));
    text
}

/// Cores busier than this leave none free for a session that has its block.
const NO_CORE_FREE: f64 = 0.9;

/// What the added time consists of, in a sentence.
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
