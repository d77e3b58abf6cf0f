//! Rows of flashdba's parser of AWR reports: CSV, a report each.

use std::collections::HashMap;
use std::io::BufRead;

use mindful_core::result::finding::codes;
use mindful_core::{Error, Result};
use mindful_oracle_terms::{event, statistic};

use super::format::Format;
use crate::input;
use crate::number::{self, Printed};
use crate::old_step::{OldStep, sessions_of};
use crate::report::histogram::{Histogram, Share};
use crate::report::step::{self, MOST_COLUMNS, MOST_REPORTS};
use crate::report::{EventLine, EventList, Report, Statistic, clock};
use crate::rows::flashdba::{BUCKETS, CLASSES, EVENTS};

const WHAT: &str = "row of flashdba's parser";
const BEGIN: &str = "Filename,Database Name,Instance Number";
const MIB: f64 = 1_048_576.0;
const PROFILE: [(&str, &str); 9] = [
    ("logical reads", "Logical Reads/sec"),
    ("block changes", "Block Changes/sec"),
    ("db time(s)", "Average Active Sessions"),
    ("user calls", "User Calls/sec"),
    ("parses", "Parses/sec"),
    ("hard parses", "Hard Parses/sec"),
    ("logons", "Logons/sec"),
    ("executes", "Executes/sec"),
    ("transactions", "Transactions/sec"),
];
/// Statistics per second, their columns, and what a unit of these is.
const STATISTICS: [(&str, &str, f64); 7] = [
    (statistic::ALL_READ_REQUESTS, "Read IOPS", 1.0),
    (statistic::READ_REQUESTS, "Read IOPS", 1.0),
    (statistic::WRITE_REQUESTS, "Write IOPS", 1.0),
    (statistic::REDO_WRITES, "Redo IOPS", 1.0),
    (statistic::ALL_WRITE_REQUESTS, "All Write IOPS", 1.0),
    (statistic::ALL_READ_BYTES, "Read Throughput (MiB/sec)", MIB),
    (statistic::ALL_WRITE_BYTES, "All Write Throughput (MiB/sec)", MIB),
];
/// Statistics of the operating system, and their columns.
const HOST: [(&str, &str); 7] = [
    ("BUSY_TIME", "OS busy time"),
    ("IDLE_TIME", "OS idle time"),
    ("IOWAIT_TIME", "OS iowait time"),
    ("SYS_TIME", "OS sys time"),
    ("USER_TIME", "OS user time"),
    ("OS_CPU_WAIT_TIME", "OS cpu wait time"),
    ("RSRC_MGR_CPU_WAIT_TIME", "OS resource mgr wait time"),
];

/// A header, and a line a report.
pub(crate) struct Flashdba;

impl Format for Flashdba {
    fn what(&self) -> &'static str {
        WHAT
    }

    fn recognises(&self, head: &str) -> bool {
        head.trim_start_matches('\u{feff}').starts_with(BEGIN)
    }

    fn read(&self, name: &str, input: &mut dyn BufRead) -> Result<Vec<OldStep>> {
        let text = input::text(name, input)?;
        let mut reader = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::All).from_reader(text.as_bytes());
        let bad = |error: csv::Error| Error::run(format!("{name} is not a table: {error}"), "give the unchanged file");
        let columns = reader.headers().map_err(bad)?.clone();
        let (mut rows, mut damaged) = (Vec::new(), 0);
        for record in reader.records().take(MOST_REPORTS + 1) {
            let record = record.map_err(bad)?;
            damaged += u64::from(record.len() != columns.len());
            let cells = columns.iter().zip(record.iter()).take(MOST_COLUMNS);
            rows.push(Cells(cells.map(|(column, cell)| (column.to_owned(), cell.to_owned())).collect()));
        }
        let reports = rows.iter().map(Cells::report);
        let mut steps = step::steps(name, |_| WHAT, reports)?;
        for (step, row) in steps.iter_mut().zip(&rows) {
            row.complete(step);
        }
        if let Some(step) = steps.first_mut() {
            step.add_damage(damaged, "row");
        }
        Ok(steps)
    }
}

struct Cells(HashMap<String, String>);

impl Cells {
    fn text(&self, column: &str) -> Option<&str> {
        self.0.get(column).map(String::as_str).filter(|cell| !cell.is_empty())
    }

    fn owned(&self, column: &str) -> Option<String> {
        self.text(column).map(str::to_owned)
    }

    fn printed(&self, column: &str) -> Option<Printed> {
        number::count(self.text(column)?).filter(|figure| (0.0..1e15).contains(&figure.value))
    }

    fn figure(&self, column: &str) -> Option<f64> {
        self.printed(column).map(|figure| figure.value)
    }

    fn report(&self) -> Report {
        let mut report = Report::default();
        self.identify(&mut report);
        let line = |(line, column): (&str, &str)| Some((line.to_owned(), self.figure(column)?));
        let printed = |(line, column): (&str, &str)| Some((line.to_owned(), self.printed(column)?));
        report.profile.extend(PROFILE.into_iter().filter_map(printed));
        let redo = self.printed("Redo Throughput (MiB/sec)").map(|mib| ("redo size".to_owned(), mib.scaled(MIB)));
        report.profile.extend(redo);
        report.host.extend(HOST.into_iter().filter_map(line));
        report.time_model.extend(self.figure("DB CPU Time (s)").map(|s| ("DB CPU".to_owned(), s)));
        // The minutes of DB time have fewer digits.
        let active = self.figure("Average Active Sessions").zip(report.elapsed_s());
        report.time_model.extend(active.map(|(active, s)| ("DB time".to_owned(), active * s)));
        let ratios = [("buffer hit %", "Buffer Hit Ratio (%)"), ("in-memory sort %", "In-Memory Sort Ratio (%)")];
        report.efficiency.extend(ratios.into_iter().filter_map(line));
        for (name, column, unit) in STATISTICS {
            let per_s = self.printed(column).map(|figure| figure.scaled(unit));
            report.statistics.extend(per_s.map(|_| (name.to_owned(), Statistic { total: None, per_s })));
        }
        let total = self.printed("Log Switches (Total)");
        let switches = total.map(|_| (statistic::LOG_SWITCHES.to_owned(), Statistic { total, per_s: None }));
        report.statistics.extend(switches);
        self.events(&mut report);
        report
    }

    fn identify(&self, report: &mut Report) {
        let identity = &mut report.identity;
        identity.database = self.owned("Database Name");
        identity.instance = self.owned("Instance Name");
        identity.instance_number = self.owned("Instance Number");
        identity.release = self.owned("Database Version");
        identity.cluster = self.text("Cluster").map(|cell| cell.eq_ignore_ascii_case("y"));
        identity.host = self.owned("Hostname");
        identity.platform = self.owned("Host OS");
        identity.cpus = self.figure("Num CPUs");
        identity.memory_gib = self.figure("Server Memory (GB)");
        identity.block_bytes = self.text("DB Block Size").and_then(|size| number::bytes(size, 1.0));
        let snapshots = &mut report.snapshots;
        snapshots.begin_id = self.owned("Begin Snap");
        snapshots.begin = self.owned("Begin Time");
        snapshots.end_id = self.owned("End Snap");
        snapshots.end = self.owned("End Time");
        snapshots.clock = clock(snapshots.begin.as_deref(), snapshots.end.as_deref());
        snapshots.elapsed_min = self.printed("Elapsed Time (mins)");
        snapshots.db_time_min = self.printed("DB Time (mins)");
    }

    fn events(&self, report: &mut Report) {
        for place in 1..=5 {
            let column = |what: &str| format!("Top5 Event{place} {what}");
            let Some(name) = self.owned(&column("Name")) else { continue };
            let (percent, class) = (self.figure(&column("%DBTime")), self.owned(&column("Class")));
            report.top.push(EventLine {
                percent,
                class,
                ..self.waits(&name, &column("Waits"), &column("Time (s)"), &column("Average Time (ms)"))
            });
        }
        let section = |of_sessions: bool| -> Option<EventList> {
            let events = EVENTS.into_iter().filter(|(_, foreground)| *foreground == of_sessions);
            let line = |(event, _): (&str, bool)| {
                let column = |what: &str| format!("{event} {what}");
                self.waits(event, &column("Waits"), &column("Time (s)"), &column("Latency (ms)"))
            };
            let lines: Vec<_> = events.map(line).collect();
            // A row without a single one was made of a report without the list.
            lines.iter().find(|line| line.waits.is_some())?;
            let waited_for = |line: &EventLine| line.waits.is_none_or(|waits| waits.value > 0.0);
            // A read of several blocks has no columns.
            let without_columns = EventLine { name: event::PARALLEL_READ.to_owned(), ..EventLine::default() };
            let lines = lines.into_iter().filter(waited_for).chain([without_columns]).collect();
            Some(EventList { lines, whole: true })
        };
        (report.foreground, report.background) = (section(true), section(false));
        for (name, class) in CLASSES.into_iter().chain([("User I/O", "User I/O")]) {
            let column = |what: &str| format!("Wait Class {name} {what}");
            let line = self.waits(class, &column("Waits"), &column("Time (s)"), &column("Latency (ms)"));
            if line.waits.is_some_and(|waits| waits.value > 0.0) {
                report.classes.insert(class.to_owned(), line);
            }
        }
        for (event, _) in EVENTS {
            let share = |(name, from_us, to_us): (&str, u64, u64)| {
                let percent = self.figure(&format!("Histogram {name} {event}"))?;
                Some(Share { from_us, to_us, percent })
            };
            let shares: Vec<_> = BUCKETS.into_iter().filter_map(share).collect();
            if !shares.is_empty() {
                report.histograms.insert(event.to_owned(), Histogram { shares, ..Histogram::default() });
            }
        }
    }

    fn waits(&self, name: &str, waits: &str, seconds: &str, mean_ms: &str) -> EventLine {
        let scaled = |column: &str, unit_us: f64| self.printed(column).map(|figure| figure.scaled(unit_us));
        let time_us = scaled(seconds, 1e6);
        EventLine {
            name: name.to_owned(),
            waits: self.printed(waits),
            time_us,
            mean_us: scaled(mean_ms, 1e3),
            ..EventLine::default()
        }
    }

    fn complete(&self, step: &mut OldStep) {
        if let Some(file) = self.text("Filename") {
            file.clone_into(&mut step.file);
        }
        step.sessions = sessions_of(&step.file);
        let text = "A row of flashdba's parser contains all read requests, including those of control files and backups. \
                    mindful takes them as the database's read requests.";
        step.add_finding(codes::IMPORTED_FIGURES, text, step.file.clone());
    }
}
