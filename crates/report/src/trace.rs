//! Single waits as text, by their share of the time.

use std::fmt::Write as _;

use mindful_core::plan::units::format_counted;
use mindful_core::result::trace::{LatencyRange, TraceSummary, WaitFigures};

use crate::escape;
use crate::table::Side::{Left, Right};
use crate::table::{Column, Table};

/// At most `top` groups, most time first, then kinds of reads and ranges of latency.
pub fn trace_text(trace: &TraceSummary, top: usize) -> String {
    let all = &trace.all;
    let groups = trace.groups.iter().take(top).map(|group| Row(&group.key, &group.figures, None));
    let groups: Vec<_> = groups.chain([Row("all", all, None)]).collect();
    let (file, by) = (escape(&trace.file), &trace.group_by);
    let mut text = format!("{file}: {} of {} waits, by {by}\n", all.waits, trace.waits_in_trace);
    for (count, part) in [(trace.damaged_lines, "line"), (trace.zero_bytes, "zero byte")] {
        if count > 0 {
            // Writing to a string cannot fail.
            let _ = writeln!(text, "damaged: {}, not counted", format_counted(count, part));
        }
    }
    text.push('\n');
    text.push_str(&waits_table("group", &groups, all));
    if trace.groups.len() > top {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{} more groups; raise --top to list them", trace.groups.len() - top);
    }
    if !trace.groups_exact {
        text.push_str("too many distinct latencies: percentiles of groups are up to 12.5 % too low\n");
    }
    let reads = trace.reads.iter().filter(|read| read.figures.waits > 0);
    let reads: Vec<_> = reads.map(|read| Row(&read.kind, &read.figures, read.blocks_per_read)).collect();
    if !reads.is_empty() {
        text.push('\n');
        text.push_str(&waits_table(READS, &reads, all));
    }
    text.push_str(&ranges_table(all));
    text
}

/// Waits with their name, and the blocks of a read where they are reads.
struct Row<'a>(&'a str, &'a WaitFigures, Option<f64>);

/// The title of reads: of a single block, and of several.
const READS: &str = "reads";

fn percent(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.1}", 100.0 * part as f64 / whole as f64) }
}

fn seconds(us: u64) -> String {
    format!("{:.6}", us as f64 / 1e6)
}

fn us_or_dash(us: Option<u64>) -> String {
    us.map_or_else(|| "-".to_owned(), |us| us.to_string())
}

fn waits_table(title: &str, rows: &[Row], all: &WaitFigures) -> String {
    let columns: [Column<Row>; 12] = [
        (title, Left, &|row| escape(row.0)),
        ("waits", Right, &|row| row.1.waits.to_string()),
        ("%", Right, &|row| percent(row.1.waits, all.waits)),
        ("seconds", Right, &|row| seconds(row.1.time_us)),
        ("% time", Right, &|row| percent(row.1.time_us, all.time_us)),
        ("mean us", Right, &|row| row.1.mean_us.map_or_else(|| "-".to_owned(), |mean| format!("{mean:.0}"))),
        ("p50 us", Right, &|row| us_or_dash(row.1.counted_us.p50)),
        ("p95 us", Right, &|row| us_or_dash(row.1.counted_us.p95)),
        ("p99 us", Right, &|row| us_or_dash(row.1.counted_us.p99)),
        ("max us", Right, &|row| us_or_dash(row.1.max_us)),
        ("half the time above us", Right, &|row| us_or_dash(row.1.time_weighted_us.p50)),
        ("blocks each", Right, &|row| row.2.map_or_else(|| "-".to_owned(), |each| format!("{each:.2}"))),
    ];
    Table::of(rows, &columns[..if title == READS { 12 } else { 11 }]).whole()
}

fn ranges_table(all: &WaitFigures) -> String {
    let columns: &[Column<LatencyRange>] = &[
        ("us", Left, &|range| format!("{} to {}", range.from_us, range.to_us)),
        ("waits", Right, &|range| range.waits.to_string()),
        ("%", Right, &|range| percent(range.waits, all.waits)),
        ("seconds", Right, &|range| seconds(range.time_us)),
        ("% time", Right, &|range| percent(range.time_us, all.time_us)),
        ("mean us", Right, &|range| format!("{:.0}", range.time_us as f64 / range.waits as f64)),
        ("min us", Right, &|range| range.min_us.to_string()),
        ("max us", Right, &|range| range.max_us.to_string()),
    ];
    format!("\n{}\n", Table::of(&all.ranges, columns).whole())
}
