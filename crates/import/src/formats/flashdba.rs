//! Rows of flashdba's parser of AWR reports: CSV, a report each.

use mindful_core::Error;
use mindful_oracle_terms::{event, statistic};

use super::format::Format;
use super::report_row::{Cells, MIB, RowFormat};
use crate::input;
use crate::number;
use crate::report::histogram::{Histogram, Share};
use crate::report::{EventLine, EventList, Report, Statistic, Waited, clock};
use crate::rows::flashdba::{BUCKETS, CLASSES, EVENTS, HOST, LINES};

const BEGIN: &str = "Filename,Database Name,Instance Number";
const PROFILE: [(&str, &str); 3] = [
    ("logical reads", "Logical Reads/sec"),
    ("block changes", "Block Changes/sec"),
    ("db time(s)", "Average Active Sessions"),
];
/// Statistics per second, their columns, and the size of their unit.
const STATISTICS: [(&str, &str, f64); 7] = [
    (statistic::ALL_READ_REQUESTS, "Read IOPS", 1.0),
    (statistic::READ_REQUESTS, "Read IOPS", 1.0),
    (statistic::WRITE_REQUESTS, "Write IOPS", 1.0),
    (statistic::REDO_WRITES, "Redo IOPS", 1.0),
    (statistic::ALL_WRITE_REQUESTS, "All Write IOPS", 1.0),
    (statistic::ALL_READ_BYTES, "Read Throughput (MiB/sec)", MIB),
    (statistic::ALL_WRITE_BYTES, "All Write Throughput (MiB/sec)", MIB),
];
const ROWS: RowFormat = RowFormat {
    what: "row of flashdba's parser",
    file: "Filename",
    report,
    remark: "A row of flashdba's parser contains all read requests, including those of control files and backups. mindful takes \
             them as the database's read requests.",
};

/// A header, and a line a report.
pub(super) static FLASHDBA: Format = Format {
    what: ROWS.what,
    recognises: |head| head.starts_with(BEGIN),
    read: |name, input| {
        let text = input::text(name, input)?;
        let mut reader = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
        let cells = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect::<Vec<_>>();
        let bad = |error| Error::run(format!("{name} is not a table: {error}"), "give the unchanged file");
        let columns = cells(reader.headers().map_err(bad)?);
        ROWS.steps(name, &columns, reader.records().map(|record| record.map_or_else(|_| Vec::new(), |row| cells(&row))))
    },
};

fn report(row: &Cells) -> Report {
    let mut report = Report::default();
    identify(row, &mut report);
    let line = |(line, column): (&str, &str)| Some((line.to_owned(), row.figure(column)?));
    let printed = |(line, column): (&str, &str)| Some((line.to_owned(), row.printed(column)?));
    report.profile.extend(PROFILE.into_iter().chain(LINES).filter_map(printed));
    let redo = row.printed("Redo Throughput (MiB/sec)").map(|mib| ("redo size".to_owned(), mib.scaled(MIB)));
    report.profile.extend(redo);
    report.host.extend(HOST.into_iter().filter_map(line));
    report
        .time_model
        .extend(row.text("DB CPU Time (s)").map(|_| ("DB CPU".to_owned(), row.printed("DB CPU Time (s)"))));
    let ratios = [("buffer hit %", "Buffer Hit Ratio (%)"), ("in-memory sort %", "In-Memory Sort Ratio (%)")];
    report.efficiency.extend(ratios.into_iter().filter_map(line));
    for (name, column, unit) in STATISTICS {
        let per_s = row.printed(column).map(|figure| figure.scaled(unit));
        report.statistics.extend(per_s.map(|_| (name.to_owned(), Statistic { total: None, per_s })));
    }
    let total = row.printed("Log Switches (Total)");
    let switches = total.map(|_| (statistic::LOG_SWITCHES.to_owned(), Statistic { total, per_s: None }));
    report.statistics.extend(switches);
    events(row, &mut report);
    report
}

fn identify(row: &Cells, report: &mut Report) {
    let identity = &mut report.identity;
    identity.database = row.owned("Database Name");
    identity.instance = row.owned("Instance Name");
    identity.instance_number = row.owned("Instance Number");
    identity.release = row.owned("Database Version");
    identity.cluster = row.text("Cluster").map(|cell| cell.eq_ignore_ascii_case("y"));
    identity.host = row.owned("Hostname");
    identity.platform = row.owned("Host OS");
    identity.cpus = row.figure("Num CPUs");
    identity.memory_gib = row.figure("Server Memory (GB)");
    identity.block_bytes = row.text("DB Block Size").and_then(|size| number::bytes(size, 1.0));
    let snapshots = &mut report.snapshots;
    snapshots.begin_id = row.owned("Begin Snap");
    snapshots.begin = row.owned("Begin Time");
    snapshots.end_id = row.owned("End Snap");
    snapshots.end = row.owned("End Time");
    snapshots.clock = clock(snapshots.begin.as_deref(), snapshots.end.as_deref());
    snapshots.elapsed_min = row.printed("Elapsed Time (mins)");
    snapshots.db_time_min = row.printed("DB Time (mins)");
}

fn events(row: &Cells, report: &mut Report) {
    for place in 1..=5 {
        let group = format!("Top5 Event{place}");
        let Some(name) = row.owned(&format!("{group} Name")) else { continue };
        let (percent, class) = (row.printed(&format!("{group} %DBTime")), row.owned(&format!("{group} Class")));
        report.top.push(EventLine { name, waited: waits(row, &group, "Average Time (ms)"), percent, class });
    }
    let section = |of_sessions: bool| -> Option<EventList> {
        let events = EVENTS.into_iter().filter(|(_, foreground)| *foreground == of_sessions);
        let line = |event: &str| event_line(event, waits(row, event, "Latency (ms)"));
        let lines: Vec<_> = events.map(|(event, _)| line(event)).collect();
        // A row without a single one was made of a report without the list.
        lines.iter().find(|line| line.waited.waits.is_some())?;
        let waited_for = |line: &EventLine| line.waited.waits.is_none_or(|waits| waits.value > 0.0);
        // A read of several blocks has no columns.
        let without_columns = event_line(event::PARALLEL_READ, Waited::default());
        let lines = lines.into_iter().filter(waited_for).chain([without_columns]).collect();
        Some(EventList { lines, whole: true })
    };
    (report.foreground, report.background) = (section(true), section(false));
    for (name, class) in CLASSES.into_iter().chain([("User I/O", "User I/O")]) {
        let waited = waits(row, &format!("Wait Class {name}"), "Latency (ms)");
        if waited.waits.is_some_and(|waits| waits.value > 0.0) {
            report.classes.insert(class.to_owned(), event_line(class, waited));
        }
    }
    for (event, _) in EVENTS {
        let share = |(name, from_us, to_us): (&str, u64, u64)| {
            let percent = row.figure(&format!("Histogram {name} {event}"))?;
            Some(Share { from_us, to_us, percent })
        };
        let shares: Vec<_> = BUCKETS.into_iter().filter_map(share).collect();
        if !shares.is_empty() {
            report.histograms.insert(event.to_owned(), Histogram { shares, ..Histogram::default() });
        }
    }
}

fn event_line(name: &str, waited: Waited) -> EventLine {
    EventLine { name: name.to_owned(), waited, ..EventLine::default() }
}

/// The waits in the columns that begin with `group`.
fn waits(row: &Cells, group: &str, mean_ms: &str) -> Waited {
    let printed = |column: &str| row.printed(&format!("{group} {column}"));
    let scaled = |column: &str, unit_us: f64| printed(column).map(|figure| figure.scaled(unit_us));
    Waited { waits: printed("Waits"), time_us: scaled("Time (s)", 1e6), mean_us: scaled(mean_ms, 1e3) }
}
