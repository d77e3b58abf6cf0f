//! When a report begins and ends.

use super::contents::{Report, Snapshots, Span};
use crate::date;
use crate::number::{self, Printed};
use crate::tables::{Table, known};

/// Reads the lines of the snapshots, in any table.
pub(super) fn read(table: &Table, report: &mut Report) {
    let into = &mut report.snapshots;
    for row in &table.rows {
        let Some(first) = row.iter().position(|cell| !cell.is_empty()) else { continue };
        let rest = row[first + 1..].join(" ");
        let label = row[first].to_ascii_lowercase();
        match label.as_str() {
            "begin snap:" if into.begin.is_none() => (into.begin_id, into.begin) = snapshot(&row[first + 1..]),
            "end snap:" if into.end.is_none() => (into.end_id, into.end) = snapshot(&row[first + 1..]),
            "elapsed:" if into.elapsed_min.is_none() => into.elapsed_min = minutes(&rest),
            "db time:" if into.db_time_min.is_none() => into.db_time_min = minutes(&rest),
            _ => {}
        }
    }
    instances(table, into);
    into.clock = clock(into.begin.as_deref(), into.end.as_deref());
}

pub(crate) fn clock(begin: Option<&str>, end: Option<&str>) -> Option<Span> {
    let ((begin_s, begins_on_minute), (end_s, ends_on_minute)) = instant(begin?).zip(instant(end?))?;
    (begin_s < end_s).then_some(Span { begin_s, end_s, in_minutes: begins_on_minute || ends_on_minute })
}

/// The number and the time of a snapshot: either may not have fitted its column.
fn snapshot(cells: &[String]) -> (Option<String>, Option<String>) {
    let mut cells = cells.iter().filter(|cell| !cell.is_empty()).map(|cell| known(cell).map(str::to_owned));
    (cells.next().flatten(), cells.next().flatten())
}

/// Minutes before their unit in brackets.
fn minutes(text: &str) -> Option<Printed> {
    let (figure, unit) = text.trim().split_once(' ')?;
    unit.trim_start().starts_with("(min").then(|| number::count(figure)).flatten()
}

/// A global report: its instances ran over the same time, and their DB times add up.
fn instances(table: &Table, into: &mut Snapshots) {
    if table.named("instance").is_none() || table.column(|name| name.contains("begin snap")).is_none() {
        return;
    }
    // One that is not known leaves the sum unknown.
    let minutes = |wanted: &str, both: fn(Printed, Printed) -> Printed| {
        let at = table.column(|name| name.contains(wanted) && name.contains("time") && name.contains("min"))?;
        let mut each = table.rows.iter().map(|row| number::count(&row[at]));
        let first = each.next()?;
        each.fold(first, |all, figure| Some(both(all?, figure?)))
    };
    into.elapsed_min = into.elapsed_min.or_else(|| minutes("elapsed", |a, b| if b.value > a.value { b } else { a }));
    into.db_time_min = into.db_time_min.or_else(|| minutes("db", Printed::plus));
    let cell = |wanted: &str| {
        let at = table.column(|name| name.contains(wanted))?;
        table.rows.iter().map(|row| row[at].clone()).find(|cell| instant(cell).is_some())
    };
    into.begin = into.begin.take().or_else(|| cell("begin snap"));
    into.end = into.end.take().or_else(|| cell("end snap"));
}

/// A date and a time as s since the epoch, as if the clock were UTC, and whether it shows minutes only.
fn instant(text: &str) -> Option<(i64, bool)> {
    let (date, time) = text.trim().rsplit_once(' ')?;
    let day_s = date::day_s(date)?;
    let mut parts = time.trim().split(':').map(|part| part.parse::<i64>().ok());
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next();
    Some((day_s + date::clock_s(hour, minute, second.unwrap_or(Some(0))?)?, second.is_none()))
}
