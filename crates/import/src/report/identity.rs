//! Which database, which host, and when a report begins and ends.

use super::contents::{Identity, Report, Snapshots, Span};
use crate::date;
use crate::number::{self, Printed};
use crate::tables::{Table, known};

/// Completes the host from its own statistics if the head lacks it; the bytes of its memory have more digits.
pub(super) fn complete(report: &mut Report) {
    let Report { identity, host, .. } = report;
    let listed = |name: &str| host.get(name).copied().filter(|count| *count > 0.0);
    set(&mut identity.cpus, listed("NUM_CPUS"));
    set(&mut identity.cores, listed("NUM_CPU_CORES"));
    set(&mut identity.sockets, listed("NUM_CPU_SOCKETS"));
    identity.memory_gib =
        listed("PHYSICAL_MEMORY_BYTES").map(|bytes| bytes / f64::from(1 << 30)).or(identity.memory_gib);
}

pub(super) fn read(table: &Table, report: &mut Report) {
    let identity = &mut report.identity;
    let rows = || table.rows.iter().filter(|row| row.iter().any(|cell| !cell.is_empty()));
    let identifies = ["db id", "inst num", "container name", "cpus"].iter().any(|name| table.named(name).is_some());
    if let Some(row) = rows().next().filter(|_| identifies) {
        from_row(table, row, identity);
    }
    if table.column(|name| name.contains("begin snap")).is_some() && identity.release.is_none() {
        identity.release = table.named("release").and_then(|at| Some(known(&rows().next()?[at])?.to_owned()));
        identity.cluster = Some(true);
        let mut hosts: Vec<_> =
            table.named("host").map_or_else(Vec::new, |at| rows().filter_map(|row| known(&row[at])).collect());
        let all = hosts.len();
        hosts.sort_unstable();
        hosts.dedup();
        report.instances_share_hosts = hosts.len() < all;
        set(&mut identity.host, Some(hosts.join(", ")).filter(|hosts| !hosts.is_empty()));
    }
    // The summary of a cluster's report; its names may be below others: `Database Name`.
    if let Some(row) = rows().next().filter(|_| table.title.starts_with("Database Summary")) {
        let block_bytes = cell(table, row, &["block size", "database block size"]);
        set(&mut identity.database, cell(table, row, &["name", "database name"]));
        set(&mut identity.block_bytes, block_bytes.and_then(|size| number::bytes(&size, 1.0)));
    }
    for row in rows() {
        let line = row.join(" ");
        let after = |label: &str| line.split_once(label)?.1.split_whitespace().next().map(str::to_owned);
        set(&mut identity.block_bytes, after("Std Block Size:").and_then(|size| number::bytes(&size, 1.0)));
        set(&mut identity.cache_bytes, after("Buffer Cache:").and_then(|size| number::bytes(&size, 1.0)));
        set(&mut identity.block_bytes, after("db_block_size:").and_then(|size| number::bytes(&size, 1.0)));
        // Statspack of 10g has its host on one line.
        set(&mut identity.host, after("Host Name:"));
        let memory_mib = after("Phys Memory (MB):").and_then(|mib| number::count(&mib));
        set(&mut identity.memory_gib, memory_mib.map(|mib| mib.value / 1024.0));
        set(&mut identity.cpus, after("Num CPUs:").and_then(|cpus| Some(number::count(&cpus)?.value)));
    }
}

/// The known cell of the first column that has one of `names`.
fn cell(table: &Table, row: &[String], names: &[&str]) -> Option<String> {
    let at = table.column(|name| names.contains(&name))?;
    known(&row[at]).map(str::to_owned)
}

fn set<T>(into: &mut Option<T>, found: Option<T>) {
    if into.is_none() {
        *into = found;
    }
}

fn from_row(table: &Table, row: &[String], identity: &mut Identity) {
    let cell = |names: &[&str]| cell(table, row, names);
    let figure = |names: &[&str]| Some(number::count(&cell(names)?)?.value);
    // Statspack has a heading of two words above two columns.
    let of_host = table.named("cpus").is_some();
    set(&mut identity.database, cell(&["db name", "database"]).or_else(|| cell(&["name"]).filter(|_| !of_host)));
    set(&mut identity.instance, cell(&["instance"]));
    set(&mut identity.instance_number, cell(&["inst num"]));
    set(&mut identity.release, cell(&["release"]));
    set(&mut identity.cluster, cell(&["rac", "cluster", "ops"]).map(|cell| cell.eq_ignore_ascii_case("yes")));
    set(&mut identity.container, cell(&["container name"]).filter(|_| table.named("open time").is_some()));
    set(&mut identity.host, cell(&["host name", "host"]).or_else(|| cell(&["name"]).filter(|_| of_host)));
    set(&mut identity.platform, cell(&["platform"]));
    set(&mut identity.block_bytes, figure(&["block size"]));
    if !of_host || table.title == "Host CPU" {
        return;
    }
    set(&mut identity.cpus, figure(&["cpus"]));
    let positive = |names: &[&str]| figure(names).filter(|count| *count > 0.0);
    set(&mut identity.cores, positive(&["cores"]));
    set(&mut identity.sockets, positive(&["sockets"]));
    set(&mut identity.memory_gib, figure(&["memory(gb)", "memory (gb)", "memory (g)"]));
}

/// Reads the lines of the snapshots, in any table.
pub(super) fn read_snapshots(table: &Table, report: &mut Report) {
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
