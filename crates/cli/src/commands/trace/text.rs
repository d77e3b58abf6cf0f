//! Single waits for a person: which of them own the time.

use std::fmt::Write as _;

use mindful_import::waits::{Distribution, Field, Grouped, Kind};
use mindful_report::{escape, table_of};

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

/// Groups, kinds of reads and ranges of latency, the most time first.
pub fn report(file: &str, fields: &[Field], grouped: &Grouped, top: usize) -> String {
    let (all, groups) = (&grouped.all, grouped.by_time());
    let mut rows: Vec<_> =
        groups.iter().take(top).map(|group| cells(group.key.clone(), &group.latencies, all)).collect();
    rows.push(cells("all".to_owned(), all, all));
    let mut text = format!("{}: {} of {} waits, by {}\n\n", escape(file), all.count, grouped.waits, names(fields));
    text.push_str(&table_of(&TITLES, rows));
    if groups.len() > top {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{} more groups; raise --top to list them", groups.len() - top);
    }
    if grouped.rounded() {
        text.push_str("too many distinct latencies: percentiles of groups are up to 12.5 % too low\n");
    }
    text.push_str(&reads(grouped));
    text.push_str(&ranges(all));
    text
}

fn share(part: u64, whole: u64) -> String {
    if whole == 0 { "-".to_owned() } else { format!("{:.1}", 100.0 * part as f64 / whole as f64) }
}

fn seconds(us: u64) -> String {
    format!("{:.6}", us as f64 / 1e6)
}

fn maybe(us: Option<u64>) -> String {
    us.map_or_else(|| "-".to_owned(), |us| us.to_string())
}

fn cells(name: String, of: &Distribution, all: &Distribution) -> Vec<String> {
    let mut cells = vec![
        name,
        of.count.to_string(),
        share(of.count, all.count),
        seconds(of.time_us),
        share(of.time_us, all.time_us),
        of.mean_us().map_or_else(|| "-".to_owned(), |mean| format!("{mean:.0}")),
    ];
    cells.extend([0.5, 0.95, 0.99].map(|share| maybe(of.percentile_us(share))));
    cells.extend([maybe(of.max_us), maybe(of.time_percentile_us(0.5))]);
    cells
}

/// Single-block against other reads.
fn reads(grouped: &Grouped) -> String {
    let kinds = Kind::ALL.iter().map(|kind| (kind, &grouped.reads[*kind as usize]));
    let rows: Vec<_> = kinds
        .filter(|(_, (latencies, _))| latencies.count > 0)
        .map(|(kind, (latencies, blocks))| {
            let mut row = cells(kind.name().to_owned(), latencies, &grouped.all);
            row.push(blocks.each(grouped.block_bytes()).map_or_else(|| "-".to_owned(), |each| format!("{each:.2}")));
            row
        })
        .collect();
    let titles: Vec<_> = ["reads"].into_iter().chain(TITLES[1..].iter().copied()).chain(["blocks each"]).collect();
    if rows.is_empty() { String::new() } else { format!("\n{}", table_of(&titles, rows)) }
}

/// By factors of ten.
fn ranges(all: &Distribution) -> String {
    let row = |range: mindful_import::waits::Range| {
        vec![
            format!("{} to {}", range.from_us, range.to_us),
            range.count.to_string(),
            share(range.count, all.count),
            seconds(range.time_us),
            share(range.time_us, all.time_us),
            format!("{:.0}", range.time_us as f64 / range.count as f64),
            range.min_us.to_string(),
            range.max_us.to_string(),
        ]
    };
    let rows = all.decades().into_iter().map(row).collect();
    format!("\n{}\n", table_of(&["us", "waits", "%", "seconds", "% time", "mean us", "min us", "max us"], rows))
}

/// Names of the fields of a group.
pub fn names(fields: &[Field]) -> String {
    fields.iter().map(|field| field.name()).collect::<Vec<_>>().join(" | ")
}
