//! The table of stored runs.

use mindful_core::record::run::RunHead;
use mindful_core::result::{StepSummary, Summary, Validity};

use crate::escape::{escape, escape_to};
use crate::figure::{UNKNOWN, count, maybe};
use crate::style::{Style, Tone};
use crate::table::Side::{Left, Right};
use crate::table::Table;

#[derive(Debug, Clone, Copy)]
pub struct StoredRun<'a> {
    pub id: &'a str,
    pub head: Option<&'a RunHead>,
    pub summary: Option<&'a Summary>,
    pub fault: Option<&'a str>,
}

/// The table, a line a run; a run of several steps shows the one with the most blocks per second. A contrast shows only
/// its ratio, because none of its steps is the result.
pub fn table(rows: &[StoredRun], style: &Style) -> String {
    if rows.is_empty() {
        return "no runs\n".to_owned();
    }
    let mut table = Table::new(&[
        ("id", Left),
        ("when (UTC)", Left),
        ("what", Left),
        ("engine", Left),
        ("target", Left),
        ("sessions", Right),
        ("unit", Right),
        ("upd %", Right),
        ("blocks/s", Right),
        ("phys reads/s", Right),
        ("p99 us", Right),
        ("validity", Left),
        ("tag", Left),
    ]);
    let mut faults = Vec::new();
    for row in rows {
        if let Some(head) = row.head {
            table.row(cells(row.id, head, row.summary));
        } else {
            faults.push(format!("{}  cannot be read: {}", escape(row.id), escape(row.fault.unwrap_or("unknown"))));
        }
    }
    let mut lines = if table.is_empty() { Vec::new() } else { table.lines(usize::MAX, style.table_columns()) };
    if let Some(header) = lines.first_mut() {
        *header = style.paint(Tone::Faint, header);
    }
    lines.extend(faults);
    lines.join("\n") + "\n"
}

fn cells(id: &str, head: &RunHead, summary: Option<&Summary>) -> Vec<String> {
    let steps = summary.filter(|summary| !summary.is_contrast()).map(|summary| &summary.steps);
    let best = steps.and_then(|steps| steps.iter().max_by(|a, b| visited(a).total_cmp(&visited(b))));
    let when = head.started_at.get(..16).unwrap_or(&head.started_at).replace('T', " ");
    let p99 = best.and_then(|step| step.ops.main().and_then(|op| op.p99_us));
    let verdict = match summary {
        None => "unfinished",
        Some(s) if !s.finished => "unfinished",
        Some(s) if s.validity == Validity::Invalid => s.validity.name(),
        Some(s) => &s.validity.name().to_lowercase(),
    };
    vec![
        escape(id),
        escape(&when),
        what(head, summary),
        escape(&head.engine),
        escape_to(place(&head.target), 32),
        best.map_or_else(|| asked(head, head.plan.sessions.to_string()), |step| count(step.sessions)),
        unit(head),
        asked(head, crate::figure::number(head.plan.update_pct.percent())),
        maybe(best.and_then(|step| step.blocks_visited_per_s)),
        maybe(best.and_then(|step| step.physical_reads_per_s)),
        maybe(p99),
        verdict.to_owned(),
        head.plan.tag.as_deref().map_or_else(|| UNKNOWN.to_owned(), |tag| escape_to(tag, 24)),
    ]
}

/// The place of a target: its scheme is the column `engine`, and a user is not a place.
fn place(target: &str) -> &str {
    let Some((_, rest)) = target.split_once("://") else { return target };
    let authority = rest.split(['/', '?']).next().unwrap_or(rest);
    match authority.rfind('@') {
        Some(at) if rest.len() > at + 1 => &rest[at + 1..],
        _ => target,
    }
}

/// Kind of the run, with the number of steps if there are several, or with the ratio of a contrast. Parts of it are
/// unknown for an unfinished run.
fn what(head: &RunHead, summary: Option<&Summary>) -> String {
    if let Some(summary) = summary.filter(|summary| summary.is_contrast()) {
        let of_reads = summary.contrast.as_ref().and_then(|contrast| contrast.eta);
        let ratio = of_reads.or_else(|| summary.commits.as_ref().and_then(|commits| commits.ratio));
        let ratio = ratio.map_or_else(|| "unknown".to_owned(), |ratio| format!("{ratio:.3}"));
        return format!("{}, ratio {ratio}", kind(head, Some(summary)));
    }
    let steps = summary.map_or(0, |summary| summary.steps.len());
    let name = kind(head, summary);
    if steps > 1 { format!("{name}, {}", crate::figure::format_counted(steps, "step")) } else { name.to_owned() }
}

pub(crate) fn kind(head: &RunHead, summary: Option<&Summary>) -> &'static str {
    match summary {
        _ if head.imported.is_some() => "import",
        Some(summary) if summary.is_contrast() => "contrast",
        Some(summary) if summary.io_job.is_some() => "raw job",
        Some(summary) if summary.steps.len() > 1 => "sweep",
        _ => "run",
    }
}

/// The text from the plan; empty if another tool measured.
fn asked(head: &RunHead, said: String) -> String {
    if head.imported.is_some() { UNKNOWN.to_owned() } else { said }
}

/// The work unit, with the old kit if its arithmetic visits other blocks.
fn unit(head: &RunHead) -> String {
    let unit = head.plan.work_unit;
    asked(head, head.plan.compatibility.kit().map_or_else(|| unit.to_string(), |kit| format!("{unit} like {kit}")))
}

fn visited(step: &StepSummary) -> f64 {
    step.blocks_visited_per_s.unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn a_target_is_listed_by_its_host_and_without_its_user() {
        assert_eq!(
            place("postgres://app:x@db1.example:5433/prod?sslmode=require"),
            "db1.example:5433/prod?sslmode=require"
        );
        assert_eq!(place("mysql://db2/prod"), "mysql://db2/prod");
        assert_eq!(place("raw:/data/file"), "raw:/data/file");
        assert_eq!(place("postgres://db/x?password=a@b"), "postgres://db/x?password=a@b");
    }
}
