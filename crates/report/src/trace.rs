//! Single waits as text, by their share of the time.

use std::fmt::Write as _;

use mindful_core::plan::units::format_counted;
use mindful_core::result::trace::{TraceSummary, WaitFigures};

use crate::{escape, table_of};

const TITLES: [&str; 11] = [
    "group",
    "waits",
    "%",
    "seconds",
    "% time",
    "mean us",
    "p50 us",
    "p95 us",
    "p99 us",
    "max us",
    "half the time above us",
];

/// At most `top` groups, most time first, then kinds of reads and ranges of latency.
pub fn trace_text(trace: &TraceSummary, top: usize) -> String {
    let all = &trace.all;
    let mut rows: Vec<_> = trace.groups.iter().take(top).map(|group| cells(&group.key, &group.figures, all)).collect();
    rows.push(cells("all", all, all));
    let (file, by) = (escape(&trace.file), &trace.group_by);
    let mut text = format!("{file}: {} of {} waits, by {by}\n", all.waits, trace.waits_in_trace);
    for (count, part) in [(trace.damaged_lines, "line"), (trace.zero_bytes, "zero byte")] {
        if count > 0 {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "damaged: {}, not counted", format_counted(count, part));
        }
    }
    text.push('\n');
    text.push_str(&table_of(&TITLES, rows));
    if trace.groups.len() > top {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{} more groups; raise --top to list them", trace.groups.len() - top);
    }
    if !trace.groups_exact {
        text.push_str("too many distinct latencies: percentiles of groups are up to 12.5 % too low\n");
    }
    text.push_str(&reads_table(trace));
    text.push_str(&ranges_table(all));
    text
}

fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.1}", 100.0 * part as f64 / whole as f64) }
}

fn seconds(us: u64) -> String {
    format!("{:.6}", us as f64 / 1e6)
}

fn us_or_dash(us: Option<u64>) -> String {
    us.map_or_else(|| "-".to_owned(), |us| us.to_string())
}

fn cells(name: &str, waits: &WaitFigures, all: &WaitFigures) -> Vec<String> {
    let by_count = &waits.counted_us;
    vec![
        name.to_owned(),
        waits.waits.to_string(),
        percent(waits.waits, all.waits),
        seconds(waits.time_us),
        percent(waits.time_us, all.time_us),
        waits.mean_us.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.0}")),
        us_or_dash(by_count.p50),
        us_or_dash(by_count.p95),
        us_or_dash(by_count.p99),
        us_or_dash(waits.max_us),
        us_or_dash(waits.time_weighted_us.p50),
    ]
}

/// Reads of a single block, and other reads; empty without reads.
fn reads_table(trace: &TraceSummary) -> String {
    let reads = trace.reads.iter().filter(|read| read.figures.waits > 0);
    let rows: Vec<_> = reads
        .map(|read| {
            let mut row = cells(&read.kind, &read.figures, &trace.all);
            row.push(read.blocks_per_read.map_or_else(|| "-".to_owned(), |each| format!("{each:.2}")));
            row
        })
        .collect();
    let titles: Vec<_> = ["reads"].into_iter().chain(TITLES[1..].iter().copied()).chain(["blocks each"]).collect();
    if rows.is_empty() { String::new() } else { format!("\n{}", table_of(&titles, rows)) }
}

fn ranges_table(all: &WaitFigures) -> String {
    let rows = all.ranges.iter().map(|range| {
        vec![
            format!("{} to {}", range.from_us, range.to_us),
            range.waits.to_string(),
            percent(range.waits, all.waits),
            seconds(range.time_us),
            percent(range.time_us, all.time_us),
            format!("{:.0}", range.time_us as f64 / range.waits as f64),
            range.min_us.to_string(),
            range.max_us.to_string(),
        ]
    });
    let titles = ["us", "waits", "%", "seconds", "% time", "mean us", "min us", "max us"];
    format!("\n{}\n", table_of(&titles, rows.collect()))
}
