//! The table of stored runs.

use mindful_core::record::run::RunHead;
use mindful_core::result::{StepSummary, Summary, Validity};

use crate::escape::{escape, escape_to};
use crate::figure::{UNKNOWN, count, maybe};
use crate::style::{Style, Tone};
use crate::table::Side::{Left, Right};
use crate::table::{Column, Table};

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
    let readable: Vec<ReadableRun> = rows.iter().filter_map(ReadableRun::of).collect();
    let step = |run: &ReadableRun, figure: fn(&StepSummary) -> Option<f64>| maybe(run.best.and_then(figure));
    let columns: &[Column<ReadableRun>] = &[
        ("id", Left, &|run| escape(run.id)),
        ("when (UTC)", Left, &|ReadableRun { head, .. }| escape(&minute(&head.started_at))),
        ("what", Left, &|run| what(run.head, run.summary)),
        ("engine", Left, &|run| escape(&run.head.engine)),
        ("target", Left, &|run| escape_to(place(&run.head.target), 32)),
        ("sessions", Right, &ReadableRun::sessions),
        ("unit", Right, &|run| unit(run.head)),
        ("upd %", Right, &|run| asked(run.head, crate::figure::number(run.head.plan.update_pct.percent()))),
        ("blocks/s", Right, &|run| step(run, |step| step.blocks_visited_per_s)),
        ("phys reads/s", Right, &|run| step(run, |step| step.physical_reads_per_s)),
        ("p99 us", Right, &|run| step(run, |step| step.ops.main()?.p99_us)),
        ("validity", Left, &|run| verdict(run.summary)),
        ("tag", Left, &|run| run.head.plan.tag.as_deref().map_or_else(|| UNKNOWN.to_owned(), |tag| escape_to(tag, 24))),
    ];
    let table = Table::of(&readable, columns);
    let fault =
        |row: &StoredRun| format!("{}  cannot be read: {}", escape(row.id), escape(row.fault.unwrap_or("unknown")));
    let faults = rows.iter().filter(|row| row.head.is_none()).map(fault);
    let mut lines = if table.is_empty() { Vec::new() } else { table.lines(usize::MAX, style.table_columns()) };
    if let Some(header) = lines.first_mut() {
        *header = style.paint(Tone::Faint, header);
    }
    lines.extend(faults);
    lines.join("\n") + "\n"
}

/// A run that can be read, with its step of the most blocks per second.
struct ReadableRun<'a> {
    id: &'a str,
    head: &'a RunHead,
    summary: Option<&'a Summary>,
    best: Option<&'a StepSummary>,
}

impl<'a> ReadableRun<'a> {
    fn of(row: &StoredRun<'a>) -> Option<Self> {
        let visited = |step: &StepSummary| step.blocks_visited_per_s.unwrap_or(0.0);
        let steps = row.summary.filter(|summary| !summary.is_contrast()).map(|summary| &summary.steps);
        let best = steps.and_then(|steps| steps.iter().max_by(|a, b| visited(a).total_cmp(&visited(b))));
        Some(Self { id: row.id, head: row.head?, summary: row.summary, best })
    }

    fn sessions(&self) -> String {
        let planned = || asked(self.head, self.head.plan.sessions.to_string());
        self.best.map_or_else(planned, |step| count(step.sessions))
    }
}

/// An instant to the minute: `2026-11-26 17:23`.
pub(crate) fn minute(instant: &str) -> String {
    instant.get(..16).unwrap_or(instant).replace('T', " ")
}

fn verdict(summary: Option<&Summary>) -> String {
    match summary.filter(|summary| summary.finished) {
        None => "unfinished".to_owned(),
        Some(summary) if summary.validity == Validity::Invalid => summary.validity.name().to_owned(),
        Some(summary) => summary.validity.name().to_lowercase(),
    }
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
