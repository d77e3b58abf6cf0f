//! From tables to what they tell: by the names of their columns, for titles change from version to version.

use super::contents::{Report, Scope, Statistic};
use super::{histogram, identity, snapshots, waits};
use crate::number;
use crate::tables::Table;

/// All that `tables` tell.
pub fn of_tables(tables: &[Table], scope: Scope) -> Report {
    let mut report = Report { scope, ..Report::default() };
    for table in tables {
        identity::read(table, &mut report);
        snapshots::read(table, &mut report);
        waits::read(table, &mut report);
        histogram::read(table, &mut report.histograms);
        profile(table, &mut report);
        io_profile(table, &mut report);
        statistics(table, &mut report);
        time_model(table, &mut report);
        host(table, &mut report);
        efficiency(table, &mut report);
        parameters(table, &mut report);
        by_instance(table, &mut report);
    }
    report
}

/// The sum of a column over the instances of a cluster: in a row of its own, or the sum of theirs.
fn over_instances(table: &Table, column: usize) -> Option<f64> {
    let figure = |row: &Vec<String>| number::count(&row[column]).map(|figure| figure.value);
    let sum = table.rows.iter().find(|row| row[0].eq_ignore_ascii_case("sum"));
    let mut each = table.rows.iter().filter(|row| row[0].parse::<u32>().is_ok()).map(figure).peekable();
    let each = || each.peek().is_some().then(|| each.sum())?;
    sum.and_then(figure).or_else(each)
}

/// A name of a line in small letters, its colon and its unit apart: `Redo size (bytes):` as `redo size`.
fn plain(name: &str) -> String {
    let name = name.trim().trim_end_matches(':').to_ascii_lowercase();
    let unit = [" (bytes)", " (blocks)", " (sql)"].iter().find_map(|unit| name.strip_suffix(unit));
    unit.unwrap_or(&name).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn profile(table: &Table, report: &mut Report) {
    if !table.title.starts_with("Load Profile") {
        return;
    }
    let Some(per_s) = table.named("per second") else { return };
    for row in table.rows.iter().filter(|row| row[0].ends_with(':')) {
        if let Some(figure) = number::count(&row[per_s]) {
            report.profile.entry(plain(&row[0])).or_insert(figure.value);
        }
    }
}

fn io_profile(table: &Table, report: &mut Report) {
    if !table.title.starts_with("IO Profile") {
        return;
    }
    let of = |way: &str, other: &str| table.column(|name| name.starts_with(way) && !name.contains(other));
    let (Some(read), Some(write)) = (of("read", "write"), of("write", "read")) else { return };
    for row in table.rows.iter().filter(|row| row[0].ends_with(':')) {
        let figure = |column: usize| number::count(&row[column]).map(|figure| figure.value);
        report.io_profile.entry(plain_with_unit(&row[0])).or_insert((figure(read), figure(write)));
    }
}

fn plain_with_unit(name: &str) -> String {
    name.trim().trim_end_matches(':').to_ascii_lowercase()
}

fn statistics(table: &Table, report: &mut Report) {
    let (Some(name), Some(total)) = (table.named("statistic"), table.named("total")) else { return };
    let per_s = table.named("per second");
    let per_hour = table.named("per hour");
    if per_s.or(per_hour).is_none() {
        return;
    }
    for row in &table.rows {
        let figure = |column: usize| number::count(&row[column]).map(|figure| figure.value);
        let reported = Statistic { total: figure(total), per_s: per_s.and_then(figure) };
        if !row[name].is_empty() && reported != Statistic::default() {
            report.statistics.entry(row[name].clone()).or_insert(reported);
        }
    }
}

fn time_model(table: &Table, report: &mut Report) {
    let name = table.column(|name| matches!(name, "statistic name" | "statistic"));
    let (Some(name), Some(time)) = (name, table.named("time (s)")) else { return };
    for row in &table.rows {
        if let Some(seconds) = number::count(&row[time]) {
            report.time_model.entry(row[name].clone()).or_insert(seconds.value);
        }
    }
}

/// Statistics of the operating system stand in capitals; those that go on counting are reported as differences.
fn host(table: &Table, report: &mut Report) {
    let Some(name) = table.named("statistic").filter(|_| table.named("per second").is_none()) else { return };
    let Some(value) = table.column(|name| matches!(name, "value" | "total")) else { return };
    for row in &table.rows {
        let capitals =
            row[name].len() > 3 && row[name].bytes().all(|b| b.is_ascii_uppercase() || b"_0123456789".contains(&b));
        if let (true, Some(figure)) = (capitals, number::count(&row[value])) {
            report.host.entry(row[name].clone()).or_insert(figure.value);
        }
    }
}

/// Percentages stand two on a line, with nothing but their names to tell them apart.
fn efficiency(table: &Table, report: &mut Report) {
    if !table.title.starts_with("Instance Efficiency") {
        return;
    }
    for row in &table.rows {
        let line = row.join(" ");
        let mut rest = line.as_str();
        while let Some((name, after)) = rest.split_once(':') {
            let after = after.trim_start();
            let end = after.find(' ').unwrap_or(after.len());
            let name = name.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase();
            if let Some(figure) = number::count(&after[..end]) {
                report.efficiency.entry(name).or_insert(figure.value);
            }
            rest = &after[end..];
        }
    }
}

fn parameters(table: &Table, report: &mut Report) {
    let Some(name) = table.named("parameter name") else { return };
    let Some(value) = table.column(|name| name.starts_with("begin value")) else { return };
    for row in table.rows.iter().filter(|row| !row[name].is_empty() && !row[value].is_empty()) {
        report.parameters.entry(row[name].clone()).or_insert_with(|| row[value].clone());
    }
}

/// A global report has its load, its time model and its hosts by instance.
fn by_instance(table: &Table, report: &mut Report) {
    match table.title.as_str() {
        "Time Model" => time_of_instances(table, report),
        "OS Statistics By Instance" => hosts(table, report),
        title if title.starts_with("System Statistics - Per Second") => load_of_instances(table, report),
        _ => {}
    }
}

fn time_of_instances(table: &Table, report: &mut Report) {
    for (begin, name) in [("db time", "DB time"), ("db cpu", "DB CPU"), ("bg cpu", "background cpu time")] {
        if let Some(seconds) = table.column(|column| column.starts_with(begin)).and_then(|c| over_instances(table, c)) {
            report.time_model.entry(name.to_owned()).or_insert(seconds);
        }
    }
}

/// Hosts of a cluster; instances that share a host would count it twice.
fn hosts(table: &Table, report: &mut Report) {
    if report.instances_share_hosts {
        return;
    }
    let plain = |end: &'static str| move |name: &str| name.ends_with(end) && !name.contains('%');
    let sum = |end| table.column(plain(end)).and_then(|column| over_instances(table, column));
    report.identity.cpus = report.identity.cpus.or(sum("cpus"));
    for (end, name) in [("busy", "BUSY_TIME"), ("idle", "IDLE_TIME")] {
        if let Some(seconds) = sum(end) {
            report.host.entry(name.to_owned()).or_insert(seconds * 100.0);
        }
    }
}

fn load_of_instances(table: &Table, report: &mut Report) {
    let columns = [
        ("logical reads/s", "logical reads", 1.0),
        ("physical reads/s", "physical reads", 1.0),
        ("physical writes/s", "physical writes", 1.0),
        ("redo size (k)/s", "redo size", 1024.0),
        ("block changes/s", "block changes", 1.0),
        ("user calls/s", "user calls", 1.0),
        ("execs/s", "executes", 1.0),
        ("parses/s", "parses", 1.0),
        ("logons/s", "logons", 1.0),
        ("txns/s", "transactions", 1.0),
    ];
    for (title, name, factor) in columns {
        if let Some(figure) = table.named(title).and_then(|column| over_instances(table, column)) {
            report.profile.entry(name.to_owned()).or_insert(figure * factor);
        }
    }
}
