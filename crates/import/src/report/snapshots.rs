//! When a report begins and ends.

use jiff::civil::{Date, DateTime, Time};
use jiff::tz::TimeZone;

use super::contents::{Report, Snapshots};
use crate::number;
use crate::tables::Table;

/// Takes the lines of the snapshots, in whichever table they stand.
pub fn read(table: &Table, report: &mut Report) {
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
    let clock = |text: &Option<String>| text.as_deref().and_then(clock_s);
    into.clock_s = clock(&into.begin).zip(clock(&into.end)).filter(|(begin, end)| begin < end);
}

/// Number and time of a snapshot.
fn snapshot(cells: &[String]) -> (Option<String>, Option<String>) {
    let mut reported = cells.iter().filter(|cell| !cell.is_empty()).cloned();
    (reported.next(), reported.next())
}

/// Minutes before the word in brackets that says so.
fn minutes(text: &str) -> Option<number::Printed> {
    let (figure, unit) = text.trim().split_once(' ')?;
    unit.trim_start().starts_with("(min").then(|| number::count(figure)).flatten()
}

/// A global report: its instances ran over the same time, and their DB times add up.
fn instances(table: &Table, into: &mut Snapshots) {
    if table.named("instance").is_none() || table.column(|name| name.contains("begin snap")).is_none() {
        return;
    }
    let minutes = |wanted: &str| {
        let at = table.column(|name| name.contains(wanted) && name.contains("time") && name.contains("min"))?;
        Some(table.rows.iter().filter_map(move |row| number::count(&row[at])))
    };
    let most = |a: number::Printed, b: number::Printed| if b.value > a.value { b } else { a };
    let sum = |a: number::Printed, b: number::Printed| number::Printed {
        value: a.value + b.value,
        half_step: a.half_step + b.half_step,
    };
    into.elapsed_min = into.elapsed_min.or_else(|| minutes("elapsed")?.reduce(most));
    into.db_time_min = into.db_time_min.or_else(|| minutes("db")?.reduce(sum));
    let cell = |wanted: &str| {
        let at = table.column(|name| name.contains(wanted))?;
        table.rows.iter().map(|row| row[at].clone()).find(|cell| clock_s(cell).is_some())
    };
    into.begin = into.begin.take().or_else(|| cell("begin snap"));
    into.end = into.end.take().or_else(|| cell("end snap"));
}

/// `23-May-16 10:00:53` as s since the epoch, as if the clock were UTC. `None` for other languages and forms.
pub fn clock_s(text: &str) -> Option<i64> {
    let (date, time) = text.trim().split_once(' ')?;
    let mut parts = date.split('-');
    let (day, month, year) = (parts.next()?, parts.next()?, parts.next()?);
    let names = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
    let month = names.iter().position(|name| month.eq_ignore_ascii_case(name))? as i8 + 1;
    let year: i16 = year.parse().ok()?;
    let year = if (0..100).contains(&year) { year + 2000 } else { year };
    let mut parts = time.trim().split(':').map(|part| part.parse::<i8>().ok());
    let (hour, minute) = (parts.next()??, parts.next()??);
    let second = parts.next().unwrap_or(Some(0))?;
    let at =
        DateTime::from_parts(Date::new(year, month, day.parse().ok()?).ok()?, Time::new(hour, minute, second, 0).ok()?);
    Some(at.to_zoned(TimeZone::UTC).ok()?.timestamp().as_second())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_snapshot_time_is_read_or_unknown() {
        assert_eq!(clock_s("23-May-16 11:01:00").unwrap() - clock_s("23-May-16 10:00:53").unwrap(), 3607);
        for text in ["", "23-Mai-16 10:00:53", "99-May-16 10:00:53", "x", "23-May-16"] {
            assert_eq!(clock_s(text), None, "{text}");
        }
    }
}
