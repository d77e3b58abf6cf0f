//! From tables to figures: by the names of columns, because titles change from version to version.

use std::collections::BTreeMap;

use super::contents::{Report, Scope, Statistic};
use super::{histogram, identity, waits};
use crate::number::{self, Printed};
use crate::tables::{Table, is_called, known, unify};

pub(crate) fn of_tables(mut tables: Vec<Table>, scope: Scope) -> Report {
    let mut report = Report { scope, ..Report::default() };
    unify(&mut tables);
    for table in &tables {
        identity::read(table, &mut report);
        identity::read_snapshots(table, &mut report);
        parameters(table, &mut report);
        let rows = [
            waits::read(table, &mut report),
            histogram::read(table, &mut report.histograms),
            profile(table, &mut report),
            io_profile(table, &mut report),
            statistics(table, &mut report),
            time_model(table, &mut report),
            host(table, &mut report),
            efficiency(table, &mut report),
            by_instance(table, &mut report),
        ];
        if let Some(section) = known_section(table).filter(|_| rows.iter().sum::<usize>() == 0) {
            report.unread.push(section);
        }
    }
    if scope == Scope::Instance {
        identity::complete(&mut report);
    }
    report
}

/// The section of a table by its heading or its summary, if its rows are read. A release may rename its columns: then
/// the section is known, but not its content.
fn known_section(table: &Table) -> Option<String> {
    const TITLES: [&str; 9] = [
        "Wait Event Histogram",
        "Load Profile",
        "Foreground Wait Events",
        "Background Wait Events",
        "Wait Events",
        "Top Timed",
        "System Statistics (Global)",
        "System Statistics - Per Second",
        "OS Statistics By Instance",
    ];
    const SUMMARIES: [&str; 7] = [
        "total number of waits, and information about total wait time",
        "load profile",
        "foreground wait events and their wait statistics",
        "background wait events statistics",
        "different time model statistics",
        "for each instance, activity total, activity per second",
        "wait events by total wait time",
    ];
    let titled = TITLES.iter().any(|title| table.title.starts_with(title));
    let (title, summary) = (table.title.trim(), table.summary.to_ascii_lowercase());
    let summed_up = SUMMARIES.iter().any(|known| summary.contains(known));
    let name = if title.is_empty() { table.summary.trim() } else { title };
    (titled || summed_up).then(|| name.chars().take(80).collect())
}

/// The sum of a column over the instances of a cluster: from a separate row, or added up.
fn over_instances(table: &Table, column: usize) -> Option<Printed> {
    let sum = table.rows.iter().find(|row| row[0].eq_ignore_ascii_case("sum"));
    let mut each = table.rows.iter().filter(|row| row[0].parse::<u32>().is_ok()).map(|row| number::count(&row[column]));
    let first = each.next().flatten();
    let of_each = || each.fold(first, |sum, figure| Some(sum?.plus(figure?)));
    sum.and_then(|row| number::count(&row[column])).or_else(of_each)
}

/// Adds figures to `into`, in which earlier ones take precedence; returns their number.
fn keep<T>(into: &mut BTreeMap<String, T>, figures: impl Iterator<Item = (String, T)>) -> usize {
    let mut found = 0;
    for (name, figure) in figures {
        into.entry(name).or_insert(figure);
        found += 1;
    }
    found
}

/// A name of a line in small letters, its colon and its unit apart: `Redo size (bytes):` as `redo size`.
fn plain(name: &str) -> String {
    let name = name.trim().trim_end_matches(':').to_ascii_lowercase();
    let unit = [" (bytes)", " (blocks)", " (sql)"].iter().find_map(|unit| name.strip_suffix(unit));
    unit.unwrap_or(&name).split_whitespace().collect::<Vec<_>>().join(" ")
}

fn profile(table: &Table, report: &mut Report) -> usize {
    if !table.title.starts_with("Load Profile") {
        return 0;
    }
    let Some(per_s) = table.named("per second") else { return 0 };
    let rows = table.rows.iter().filter(|row| row[0].ends_with(':'));
    let figures = rows.filter_map(|row| Some((plain(&row[0]), number::count(&row[per_s])?)));
    keep(&mut report.profile, figures)
}

/// In the report of a cluster the names have no colon.
fn io_profile(table: &Table, report: &mut Report) -> usize {
    if !table.title.starts_with("IO Profile") {
        return 0;
    }
    let of = |way: &str, other: &str| table.column(|name| name.starts_with(way) && !name.contains(other));
    let (Some(read), Some(write)) = (of("read", "write"), of("write", "read")) else { return 0 };
    let figure = |row: &[String], column: usize| number::count(&row[column]);
    let rows = table.rows.iter().filter(|row| !row[0].is_empty());
    let figures = rows.map(|row| (plain(&row[0]), (figure(row, read), figure(row, write))));
    keep(&mut report.io_profile, figures)
}

fn statistics(table: &Table, report: &mut Report) -> usize {
    let (Some(name), Some(total)) = (table.named("statistic"), table.named("total")) else { return 0 };
    let per_s = table.named("per second");
    if per_s.or(table.named("per hour")).is_none() {
        return 0;
    }
    let statistic = |row: &Vec<String>| {
        let figure = |column: usize| number::count(&row[column]);
        let statistic = Statistic { total: figure(total), per_s: per_s.and_then(figure) };
        let shown = known(&row[name]).is_some() && statistic != Statistic::default();
        shown.then(|| (row[name].clone(), statistic))
    };
    keep(&mut report.statistics, table.rows.iter().filter_map(statistic))
}

fn time_model(table: &Table, report: &mut Report) -> usize {
    let name = table.column(|name| matches!(name, "statistic name" | "statistic"));
    let (Some(name), Some(time)) = (name, table.named("time (s)")) else { return 0 };
    let rows = table.rows.iter().filter(|row| !row[time].is_empty());
    keep(&mut report.time_model, rows.map(|row| (row[name].clone(), number::count(&row[time]))))
}

/// Names of statistics of the operating system are in capitals. Counters are printed as differences.
fn host(table: &Table, report: &mut Report) -> usize {
    let Some(name) = table.named("statistic").filter(|_| table.named("per second").is_none()) else { return 0 };
    let Some(value) = table.column(|name| matches!(name, "value" | "total")) else { return 0 };
    let capitals =
        |name: &str| name.len() > 3 && name.bytes().all(|b| b.is_ascii_uppercase() || b"_0123456789".contains(&b));
    let rows = table.rows.iter().filter(|row| capitals(&row[name]));
    let figures = rows.filter_map(|row| Some((row[name].clone(), number::count(&row[value])?.value)));
    keep(&mut report.host, figures)
}

/// A line has two percentages, and only their names distinguish them.
fn efficiency(table: &Table, report: &mut Report) -> usize {
    if !table.title.starts_with("Instance Efficiency") {
        return 0;
    }
    let mut found = 0;
    for row in &table.rows {
        let line = row.join(" ");
        let mut rest = line.as_str();
        while let Some((name, after)) = rest.split_once(':') {
            let after = after.trim_start();
            let end = after.find(' ').unwrap_or(after.len());
            let name = name.split_whitespace().collect::<Vec<_>>().join(" ").to_ascii_lowercase();
            if let Some(figure) = number::count(&after[..end]) {
                report.efficiency.entry(name).or_insert(figure.value);
                found += 1;
            }
            rest = &after[end..];
        }
    }
    found
}

fn parameters(table: &Table, report: &mut Report) {
    let Some(name) = table.named("parameter name") else { return };
    let Some(value) = table.column(|name| name.starts_with("begin value")) else { return };
    for row in &table.rows {
        if let Some((name, value)) = known(&row[name]).zip(known(&row[value])) {
            report.parameters.entry(name.to_owned()).or_insert_with(|| value.to_owned());
        }
    }
}

/// A global report has its load, its time model and its hosts by instance.
fn by_instance(table: &Table, report: &mut Report) -> usize {
    const TIMES: [(&str, &str); 3] =
        [("db time (s)", "DB time"), ("db cpu (s)", "DB CPU"), ("bg cpu (s)", "background cpu time")];
    let seconds = |(column, name): (&str, &str)| Some((name.to_owned(), over_instances(table, table.named(column)?)));
    match table.title.as_str() {
        "Time Model" => keep(&mut report.time_model, TIMES.into_iter().filter_map(seconds)),
        "OS Statistics By Instance" => hosts(table, report),
        title if title.starts_with("System Statistics - Per Second") => load_of_instances(table, report),
        _ => 0,
    }
}

/// Hosts of a cluster; instances that share a host would count it twice.
fn hosts(table: &Table, report: &mut Report) -> usize {
    if report.instances_share_hosts {
        return table.rows.len();
    }
    let sum = |name: &str| {
        let column = table.column(|column| is_called(column, name) && !column.contains('%'))?;
        Some(over_instances(table, column)?.value)
    };
    let cpus = sum("#cpus").or_else(|| sum("cpus"));
    report.identity.cpus = report.identity.cpus.or(cpus);
    let times = [("busy", "BUSY_TIME"), ("idle", "IDLE_TIME")];
    let times = times.into_iter().filter_map(|(column, name)| Some((name.to_owned(), sum(column)? * 100.0)));
    let found = keep(&mut report.host, times);
    found + usize::from(cpus.is_some())
}

fn load_of_instances(table: &Table, report: &mut Report) -> usize {
    const COLUMNS: [(&str, &str, f64); 10] = [
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
    let figures = COLUMNS.into_iter().filter_map(|(title, name, factor)| {
        Some((name.to_owned(), over_instances(table, table.named(title)?)?.scaled(factor)))
    });
    keep(&mut report.profile, figures)
}
