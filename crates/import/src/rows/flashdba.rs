//! The columns of flashdba's parser of AWR reports, as far as a report contains them.

use mindful_oracle_terms::{event, statistic};

use super::figures::{Figures, ReportRow, figures, line, value};
use crate::old_step::OldStep;
use crate::report::{EventLine, Report, Waited};

type Cell = Option<String>;

/// Events of sessions and of the background with four columns each.
pub(crate) const EVENTS: [(&str, bool); 10] = [
    (event::SINGLE_READ, true),
    (event::SCATTERED_READ, true),
    (event::DIRECT_READ, true),
    (event::DIRECT_WRITE, true),
    (event::DIRECT_READ_TEMP, true),
    (event::DIRECT_WRITE_TEMP, true),
    (event::LOG_SYNC, true),
    (event::PARALLEL_WRITE, false),
    (event::LOG_WRITE, false),
    (event::LOG_READ, false),
];

/// Names of wait classes: in the columns, and in reports.
pub(crate) const CLASSES: [(&str, &str); 9] = [
    ("Admin", "Administrative"),
    ("Application", "Application"),
    ("Cluster", "Cluster"),
    ("Commit", "Commit"),
    ("Concurrency", "Concurrency"),
    ("Configuration", "Configuration"),
    ("Network", "Network"),
    ("Other", "Other"),
    ("System I/O", "System I/O"),
];

/// Lines of the load profile, and their columns.
pub(crate) const LINES: [(&str, &str); 6] = [
    ("user calls", "User Calls/sec"),
    ("parses", "Parses/sec"),
    ("hard parses", "Hard Parses/sec"),
    ("logons", "Logons/sec"),
    ("executes", "Executes/sec"),
    ("transactions", "Transactions/sec"),
];

/// Statistics of the operating system, and their columns.
pub(crate) const HOST: [(&str, &str); 7] = [
    ("BUSY_TIME", "OS busy time"),
    ("IDLE_TIME", "OS idle time"),
    ("IOWAIT_TIME", "OS iowait time"),
    ("SYS_TIME", "OS sys time"),
    ("USER_TIME", "OS user time"),
    ("OS_CPU_WAIT_TIME", "OS cpu wait time"),
    ("RSRC_MGR_CPU_WAIT_TIME", "OS resource mgr wait time"),
];

/// Buckets of waits: their names, and their bounds in us.
pub(crate) const BUCKETS: [(&str, u64, u64); 8] = [
    ("<1ms", 0, 1_000),
    ("<2ms", 1_000, 2_000),
    ("<4ms", 2_000, 4_000),
    ("<8ms", 4_000, 8_000),
    ("<16ms", 8_000, 16_000),
    ("<32ms", 16_000, 32_000),
    ("<1s", 32_000, 1_024_000),
    (">1s", 1_024_000, u64::MAX),
];

/// A header and a line a report; an unknown figure is an empty field.
pub fn flashdba(rows: &[ReportRow<'_>]) -> String {
    let cells = |row: &ReportRow<'_>| line(columns(*row).iter().map(|(_, cell)| cell.as_deref().unwrap_or_default()));
    line(names().iter().map(String::as_str)) + &rows.iter().map(cells).collect::<String>()
}

pub fn names() -> Vec<String> {
    let (step, report) = (OldStep::new("", "", "", ""), Report::default());
    columns(ReportRow { step: &step, report: &report }).into_iter().map(|(name, _)| name).collect()
}

fn columns(row: ReportRow<'_>) -> Vec<(String, Cell)> {
    let figures = figures(row);
    let mut columns = identity(row, &figures);
    columns.extend(load(row, &figures));
    for place in 0..5 {
        columns.extend(top(place, row.report.top.get(place)));
    }
    for (event, of_sessions) in EVENTS {
        let report = row.report;
        let waited = if of_sessions { report.foreground_waits(event) } else { report.background_waits(event) };
        columns.extend(waits(row, event, waited, of_sessions));
    }
    columns.extend(host(row));
    for (name, class) in CLASSES {
        columns.extend(class_of(row, name, class));
    }
    for event in [event::SINGLE_READ, event::LOG_WRITE] {
        // Shares of the waits by duration, percent; later releases have finer buckets.
        let shares = row.report.shares(event);
        columns.extend(BUCKETS.map(|(name, from_us, to_us)| {
            let share = shares.and_then(|histogram| histogram.between(from_us, to_us));
            (format!("Histogram {name} {event}"), number(share))
        }));
    }
    columns
}

fn number(value: Option<f64>) -> Cell {
    value.map(|value| ((value * 1e3).round() / 1e3).to_string())
}

fn named<const N: usize>(columns: [(&str, Cell); N]) -> Vec<(String, Cell)> {
    columns.map(|(name, cell)| (name.to_owned(), cell)).to_vec()
}

fn identity(row: ReportRow<'_>, figures: &Figures) -> Vec<(String, Cell)> {
    let (identity, snapshots) = (&row.report.identity, &row.report.snapshots);
    let yes = |is: bool| if is { "Y" } else { "N" }.to_owned();
    let busy = figures.average_active_sessions.zip(figures.cpus).map(|(active, cpus)| yes(active > cpus));
    named([
        ("Filename", Some(figures.file.clone())),
        ("Database Name", figures.database.clone()),
        ("Instance Number", identity.instance_number.clone()),
        ("Instance Name", figures.instance.clone()),
        ("Database Version", figures.version.clone()),
        ("Cluster", figures.cluster.map(yes)),
        ("Hostname", figures.host.clone()),
        ("Host OS", identity.platform.clone()),
        ("Num CPUs", number(figures.cpus)),
        ("Server Memory (GB)", number(identity.memory_gib)),
        ("DB Block Size", identity.block_bytes.map(|bytes| format!("{}K", bytes / 1024.0))),
        ("Begin Snap", snapshots.begin_id.clone()),
        ("Begin Time", figures.begin.clone()),
        ("End Snap", snapshots.end_id.clone()),
        ("End Time", figures.end.clone()),
        ("Elapsed Time (mins)", number(figures.elapsed_s.map(|s| s / 60.0))),
        ("DB Time (mins)", number(figures.db_time_s.map(|s| s / 60.0))),
        ("Average Active Sessions", number(figures.average_active_sessions)),
        ("Busy Flag", busy),
    ])
}

fn load(row: ReportRow<'_>, figures: &Figures) -> Vec<(String, Cell)> {
    let sum = |a: Option<f64>, b: Option<f64>| number(a.zip(b).map(|(a, b)| a + b));
    let redo_mib = figures.redo_mib_per_s;
    let write_mib = figures.all_write_mib_per_s.zip(redo_mib).map(|(all, redo)| (all - redo).max(0.0));
    let cpu_s = value(row.report.session_cpu_s());
    let mut columns = named([
        ("Logical Reads/sec", number(figures.logical_reads_per_s)),
        ("Block Changes/sec", number(value(row.report.line_rate("block changes")))),
        ("Read IOPS", number(figures.all_read_requests_per_s)),
        ("Write IOPS", number(figures.write_requests_but_redo_per_s)),
        ("Redo IOPS", number(figures.redo_writes_per_s)),
        ("All Write IOPS", number(figures.all_write_requests_per_s)),
        ("Total IOPS", sum(figures.all_read_requests_per_s, figures.all_write_requests_per_s)),
        ("Read Throughput (MiB/sec)", number(figures.all_read_mib_per_s)),
        ("Write Throughput (MiB/sec)", number(write_mib)),
        ("Redo Throughput (MiB/sec)", number(redo_mib)),
        ("All Write Throughput (MiB/sec)", number(figures.all_write_mib_per_s)),
        ("Total Throughput (MiB/sec)", sum(figures.all_read_mib_per_s, figures.all_write_mib_per_s)),
        ("DB CPU Time (s)", number(cpu_s)),
        ("DB CPU %DBTime", number(share(cpu_s, figures.db_time_s))),
    ]);
    columns.extend(class_of(row, "User I/O", "User I/O"));
    columns.extend(named(LINES.map(|(line, column)| (column, number(value(row.report.line_rate(line)))))));
    let efficiency = |name: &str| number(row.report.efficiency.get(name).copied());
    let switches = row.report.statistics.get(statistic::LOG_SWITCHES).and_then(|switches| Some(switches.total?.value));
    let per_hour = switches.zip(figures.elapsed_s).map(|(switches, elapsed_s)| switches / elapsed_s * 3600.0);
    columns.extend(named([
        ("Buffer Hit Ratio (%)", efficiency("buffer hit %")),
        ("In-Memory Sort Ratio (%)", efficiency("in-memory sort %")),
        ("Log Switches (Total)", number(switches)),
        ("Log Switches (Per Hour)", number(per_hour)),
    ]));
    columns
}

fn share(part: Option<f64>, whole: Option<f64>) -> Option<f64> {
    part.zip(whole.filter(|whole| *whole > 0.0)).map(|(part, whole)| 100.0 * part / whole)
}

fn top(place: usize, line: Option<&EventLine>) -> Vec<(String, Cell)> {
    let name = |what: &str| format!("Top5 Event{} {what}", place + 1);
    let waited = line.map(|line| line.waited);
    vec![
        (name("Name"), line.map(|line| line.name.clone())),
        (name("Class"), line.and_then(|line| line.class.clone())),
        (name("Waits"), number(waited.and_then(Waited::waits))),
        (name("Time (s)"), number(waited.and_then(time_s))),
        (name("Average Time (ms)"), number(waited.and_then(Waited::mean_us).map(|us| us / 1e3))),
        (name("%DBTime"), number(value(line.and_then(|line| line.percent)))),
    ]
}

fn time_s(waited: Waited) -> Option<f64> {
    waited.time_us().map(|us| us / 1e6)
}

fn waits(row: ReportRow<'_>, what: &str, waited: Option<Waited>, of_sessions: bool) -> [(String, Cell); 4] {
    let time_s = waited.and_then(time_s);
    let db_time_s = value(row.report.db_time_s()).filter(|_| of_sessions);
    [
        (format!("{what} Waits"), number(waited.and_then(Waited::waits))),
        (format!("{what} Time (s)"), number(time_s)),
        (format!("{what} Latency (ms)"), number(waited.and_then(Waited::mean_us).map(|us| us / 1e3))),
        (format!("{what} %DBTime"), number(share(time_s, db_time_s))),
    ]
}

fn host(row: ReportRow<'_>) -> Vec<(String, Cell)> {
    let report = row.report;
    let cs = |name: &str| number(report.host.get(name).copied());
    let lists = || [&report.foreground, &report.background, &report.both].into_iter().flatten();
    let lines = || lists().flat_map(|list| &list.lines).chain(&report.top);
    let listed = report.foreground.is_some() || report.both.is_some();
    let flag = |has: bool| listed.then(|| if has { "Y" } else { "N" }.to_owned());
    let begins = |names: &[&str]| lines().any(|line| names.iter().any(|name| line.name.starts_with(name)));
    let mut columns = named(HOST.map(|(name, column)| (column, cs(name))));
    columns.extend(named([
        (
            "Data Guard Flag",
            flag(begins(&["LNS ", "LGWR-LNS", "Redo Transport", "ARCH wait on SENDREQ", "Data Guard"])),
        ),
        ("Exadata Flag", flag(begins(&["cell "]))),
    ]));
    columns
}

/// The columns of a class; with no waits if a complete list lacks it.
fn class_of(row: ReportRow<'_>, name: &str, class: &str) -> [(String, Cell); 4] {
    let listed = !row.report.classes.is_empty() && !row.report.cut;
    let waited = row.report.classes.get(class).map(|line| line.waited).or(listed.then_some(Waited::NONE));
    waits(row, &format!("Wait Class {name}"), waited, true)
}
