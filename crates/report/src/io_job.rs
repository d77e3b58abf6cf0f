//! A job on files for a person: one line a point, and the best of all.

use std::fmt::Write as _;

use mindful_analyze::io_job::{SPAN, large, load, small};
use mindful_core::result::{Finding, IoBest, IoJobSummary, Severity, StepSummary, Summary, Validity};

use crate::table::{Side, Table, wrap};
use crate::{Style, escape, figure};

/// The screen; large reads are `large_bytes` long.
pub fn report(
    summary: &Summary,
    job: &IoJobSummary,
    block_bytes: Option<u64>,
    large_bytes: Option<u64>,
    notes: &[String],
    style: &Style,
) -> String {
    let word = match summary.validity {
        Validity::Valid => "VALID",
        Validity::Suspect => "SUSPECT",
        Validity::Invalid => "INVALID",
    };
    let mut text = format!("{word}  {} points on {}\n\n", summary.steps.len(), escape(&summary.target));
    for line in table(&summary.steps, large_bytes).lines(style.columns().saturating_sub(2)) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {line}");
    }
    let size = |bytes: Option<u64>| bytes.map_or_else(|| "?".to_owned(), mindful_core::units::format_bytes);
    let _ = writeln!(
        text,
        "\n  small: random I/Os of {}; large: reads of {}; so many of each are kept in flight\n",
        size(block_bytes),
        size(large_bytes)
    );
    for line in best_lines(job) {
        let _ = writeln!(text, "  {line}");
    }
    text.push('\n');
    text.push_str(&findings(&summary.findings, style));
    for note in notes {
        let _ = writeln!(text, "\n{}", escape(note));
    }
    let _ = writeln!(text, "\nrun {}", escape(&summary.id));
    text
}

fn table(steps: &[StepSummary], large_bytes: Option<u64>) -> Table {
    let spans = steps.iter().any(|step| step.point.values.contains_key(SPAN));
    let larges = steps.iter().any(|step| large(step).is_some());
    let right = |titles: &[&'static str]| titles.iter().map(|title| (*title, Side::Right)).collect::<Vec<_>>();
    let mut header = Vec::new();
    if spans {
        header.push((SPAN, Side::Left));
    }
    header.extend(right(&["small", "large", "IOPS", "mean us", "p50 us", "p99 us"]));
    if larges {
        header.extend(right(&["large/s", "large MiB/s", "large mean us"]));
    }
    let mut table = Table::new(&header);
    for step in steps {
        let Some((in_flight, large_in_flight)) = load(&step.point) else { continue };
        let mut row = Vec::new();
        if spans {
            row.push(escape(step.point.values.get(SPAN).map_or("", String::as_str)));
        }
        let small = small(step);
        let rate = small.map_or_else(|| figure::UNKNOWN.to_owned(), |s| figure::whole(s.per_s.round() as u64));
        row.extend([in_flight.to_string(), large_in_flight.to_string(), rate]);
        row.extend(
            [small.map(|s| s.mean_us), small.and_then(|s| s.p50_us), small.and_then(|s| s.p99_us)].map(figure::maybe),
        );
        if larges {
            let op = large(step);
            let bytes_per_s = op.zip(large_bytes).map(|(op, bytes)| op.per_s * bytes as f64);
            row.extend([
                figure::maybe(op.map(|op| op.per_s)),
                figure::mib(bytes_per_s),
                figure::maybe(op.and_then(|op| op.mean_us)),
            ]);
        }
        table.row(row);
    }
    table
}

/// Each finding once, however many points have it; what is only good to know without its text.
fn findings(findings: &[Finding], style: &Style) -> String {
    let mut text = String::new();
    let columns = style.columns().saturating_sub(2);
    for (at, finding) in findings.iter().enumerate() {
        if findings[..at].iter().any(|other| other.code == finding.code) {
            continue;
        }
        let more = findings[at + 1..].iter().filter(|other| other.code == finding.code).count();
        let more = if more == 0 { String::new() } else { format!("; and at {more} more") };
        let words = if finding.severity > Severity::Info { format!(". {}", finding.text) } else { String::new() };
        let line = format!("{}: {}{more}{words}", escape(&finding.code), escape(&finding.evidence));
        for (number, line) in wrap(&line, columns).iter().enumerate() {
            let _ = writeln!(text, "{}{line}", if number == 0 { "" } else { "  " });
        }
    }
    text
}

fn best_lines(job: &IoJobSummary) -> Vec<String> {
    let mut lines = Vec::new();
    let most_small = match job.limit_us {
        Some(limit) => format!("most small I/Os per second at a mean latency up to {}", figure::time_us(limit)),
        None => "most small I/Os per second".to_owned(),
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
    tell(&most_small, "IOPS", job.most_small_per_s.as_ref());
    tell("lowest mean latency of small I/Os", "us", job.least_small_us.as_ref());
    tell("most bytes per second by large reads", "MiB/s", job.most_large_mib_per_s.as_ref());
    lines
}

/// The load, and the latency there.
fn at(best: &IoBest) -> String {
    let span = best.span.as_ref().map_or_else(String::new, |span| format!("span {}, ", escape(span)));
    let p99 = best.p99_us.map_or_else(String::new, |us| format!(", p99 {}", figure::number(us)));
    let mean = best.mean_us.map_or_else(String::new, |us| format!(" (mean {} us{p99})", figure::number(us)));
    format!("{span}{} small and {} large in flight{mean}", best.small, best.large)
}
