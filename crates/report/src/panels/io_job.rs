//! A job on files for a person: one line a point, and the best of all.

use mindful_analyze::figures::blocks;
use mindful_analyze::io_job::{large, large_bytes, load, small};
use mindful_core::contract::file_read::FileOption;
use mindful_core::record::run::Run;
use mindful_core::result::{IoBest, IoJobSummary, StepSummary, Summary};

use crate::figure::maybe;
use crate::panels::Panel;
use crate::table::Side::{Left, Right};
use crate::table::{Column, Table};
use crate::{escape, figure};

const SPAN: &str = FileOption::Span.name();

/// The panels of a job: its points, and the best of them.
pub(crate) fn panels(run: &Run, summary: &Summary, job: &IoJobSummary) -> Vec<Panel> {
    let (block_bytes, large_bytes) = (blocks::block_bytes(run), large_bytes(run));
    let mut points = Panel::default();
    points.blank();
    let count = figure::format_counted(summary.steps.len(), "point");
    points.wrapped(2, &format!("{count} on {}", escape(&summary.target)));
    points.blank();
    points.main_table(table(&summary.steps, large_bytes));
    let (legend, results) = if spans(&summary.steps) {
        (span_legend(&summary.steps, block_bytes), span_lines(&summary.steps))
    } else {
        (vec![load_legend(&summary.steps, block_bytes, large_bytes)], best_lines(job, commits(&summary.steps)))
    };
    let mut best = Panel::default();
    for lines in [legend, results].iter().filter(|lines| !lines.is_empty()) {
        best.blank();
        for line in lines {
            best.wrapped(2, line);
        }
    }
    vec![points, best]
}

/// Whether one load was put on parts of the files in turn.
fn spans(steps: &[StepSummary]) -> bool {
    steps.iter().any(|step| step.point.values.contains_key(SPAN))
}

/// Whether writes are synced, so that they are commits.
fn commits(steps: &[StepSummary]) -> bool {
    steps.iter().any(|step| step.commits_per_s.is_some())
}

fn size(bytes: Option<u64>) -> String {
    bytes.map_or_else(|| "?".to_owned(), mindful_core::plan::units::format_bytes)
}

fn load_legend(steps: &[StepSummary], block_bytes: Option<u64>, large_bytes: Option<u64>) -> String {
    let small = format!("small: I/Os of {}", size(block_bytes));
    if !steps.iter().any(|step| self::small(step).is_some()) {
        return format!("large: reads of {}; so many are kept in flight", size(large_bytes));
    }
    if steps.iter().any(|step| large(step).is_some()) {
        format!("{small}; large: reads of {}; so many of each are kept in flight", size(large_bytes))
    } else {
        format!("{small}; so many are kept in flight")
    }
}

fn span_legend(steps: &[StepSummary], block_bytes: Option<u64>) -> Vec<String> {
    let in_flight = steps.iter().find_map(|step| load(&step.point)).map_or(0, |(small, _)| small);
    let named = |name: &str| steps.iter().any(|step| step.point.values.get(SPAN).is_some_and(|span| span == name));
    let parts = [
        ("outer", "outer: the first tenth"),
        ("inner", "inner: the last tenth"),
        ("mix", "mix: a thirtieth each at start, middle and end"),
        ("full", "full: all"),
    ];
    let parts: Vec<&str> = parts.iter().filter(|(name, _)| named(name)).map(|(_, words)| *words).collect();
    let load = format!("I/Os of {}, {in_flight} in flight", size(block_bytes));
    if parts.is_empty() { vec![load] } else { vec![load, parts.join("; ")] }
}

fn span_lines(steps: &[StepSummary]) -> Vec<String> {
    let mut means: Vec<(f64, &str)> =
        steps.iter().filter_map(|step| Some((small(step)?.mean_us, step.point.values.get(SPAN)?.as_str()))).collect();
    means.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (Some((least, at)), Some((most, there))) = (means.first(), means.last()) else { return Vec::new() };
    if means.len() < 2 {
        return Vec::new();
    }
    vec![format!(
        "mean latency from {} at {} to {} at {}: {:+.1} %",
        figure::time_us(*least),
        escape(at),
        figure::time_us(*most),
        escape(there),
        100.0 * (most / least - 1.0)
    )]
}

fn table(steps: &[StepSummary], large_bytes: Option<u64>) -> Table {
    let spans = spans(steps);
    let larges = steps.iter().any(|step| large(step).is_some());
    let smalls = !larges || steps.iter().any(|step| small(step).is_some());
    let in_flight = |step: &StepSummary| load(&step.point).unwrap_or_default();
    let large_bytes_per_s = |step| large(step).zip(large_bytes).map(|(op, bytes)| op.per_s * bytes as f64);
    let of_span: &[Column<&StepSummary>] =
        &[(SPAN, Left, &|step| escape(step.point.values.get(SPAN).map_or("", String::as_str)))];
    let of_small: &[Column<&StepSummary>] = &[
        ("small", Right, &|step| in_flight(step).0.to_string()),
        ("IOPS", Right, &|step| figure::whole(small(step).map(|small| small.per_s))),
        ("mean us", Right, &|step| maybe(small(step).map(|small| small.mean_us))),
        ("p50 us", Right, &|step| maybe(small(step).and_then(|small| small.p50_us))),
        ("p99 us", Right, &|step| maybe(small(step).and_then(|small| small.p99_us))),
    ];
    let of_large: &[Column<&StepSummary>] = &[
        ("large", Right, &|step| in_flight(step).1.to_string()),
        ("large/s", Right, &|step| maybe(large(step).map(|large| large.per_s))),
        ("large MiB/s", Right, &|step| figure::mib(large_bytes_per_s(step))),
        ("large mean us", Right, &|step| maybe(large(step).and_then(|large| large.mean_us))),
    ];
    let of_commits: &[Column<&StepSummary>] = &[
        ("commits/s", Right, &|step| maybe(step.commits_per_s)),
        ("sync p50 us", Right, &|step| maybe(step.waits.log_sync_p50_us)),
        ("sync p99 us", Right, &|step| maybe(step.waits.log_sync_p99_us)),
    ];
    let shown = [
        (spans, of_span),
        (smalls && !spans, &of_small[..1]),
        (larges && !spans, &of_large[..1]),
        (smalls, &of_small[1..]),
        (larges, &of_large[1..]),
        (commits(steps), of_commits),
    ];
    let columns: Vec<_> =
        shown.into_iter().filter(|(is_shown, _)| *is_shown).flat_map(|(_, columns)| columns).copied().collect();
    let points: Vec<_> = steps.iter().filter(|step| load(&step.point).is_some()).collect();
    Table::of(&points, &columns)
}

fn best_lines(job: &IoJobSummary, commits: bool) -> Vec<String> {
    let mut lines = Vec::new();
    let [small, unit] = if commits { ["commits", "commits/s"] } else { ["small I/Os", "IOPS"] };
    let most_small = match job.limit_us {
        Some(limit) => format!("most {small} per second at a mean latency up to {}", figure::time_us(limit)),
        None => format!("most {small} per second"),
    };
    if let Some(limit) = job.limit_us.filter(|_| job.most_small_per_s.is_none()) {
        lines
            .push(format!("no load kept the limit of {}: even one I/O at a time takes longer", figure::time_us(limit)));
    }
    let mut tell = |words: &str, unit: &str, best: Option<&IoBest>| {
        if let Some(best) = best {
            lines.push(format!("{words}: {} {unit} at {}", figure::number(best.value), at(best)));
        }
    };
    tell(&most_small, unit, job.most_small_per_s.as_ref());
    tell(&format!("lowest mean latency of {small}"), "us", job.least_small_us.as_ref());
    tell("most bytes per second by large reads", "MiB/s", job.most_large_mib_per_s.as_ref());
    lines
}

fn at(best: &IoBest) -> String {
    let p99 = best.p99_us.map_or_else(String::new, |us| format!(", p99 {}", figure::number(us)));
    let mean = best.mean_us.map_or_else(String::new, |us| format!(" (mean {} us{p99})", figure::number(us)));
    format!("{} small and {} large in flight{mean}", best.small, best.large)
}
