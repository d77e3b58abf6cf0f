//! The line, and the text before it.

use crate::number::{self, Printed};

#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct PgioResult {
    /// psql's connection string, if the log contains it.
    pub connect: Option<String>,
    pub database: Option<String>,
    pub schemas: Option<u32>,
    /// Sessions on each.
    pub threads: Option<u32>,
    /// Time from the end of the launch to the end of the last session, s.
    pub seconds: Option<f64>,
    /// Time the launch took, s, where the log shows it.
    pub launch_s: Option<f64>,
    /// Reads requested by PostgreSQL, by seconds after the launch.
    pub reads_per_s: Option<Printed>,
    pub hits_per_s: Option<Printed>,
    /// Time of a read, ms; needs `track_io_timing`.
    pub ms_per_read: Option<Printed>,
    /// Growth of the counters in the log.
    pub rise: Rise,
}

/// Growth of counters of `pg_stat_database` in a run.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct Rise {
    pub reads: Option<Printed>,
    pub hits: Option<Printed>,
    pub read_ms: Option<Printed>,
}

impl Rise {
    pub(super) fn ms_per_read(self) -> Option<Printed> {
        self.read_ms?.over(self.reads?)
    }
}

pub(super) fn is_result(line: &str) -> bool {
    line.contains("RIOPS >") && line.contains("Run time:")
}

pub(super) fn results(text: &str) -> Vec<PgioResult> {
    let mut results = Vec::new();
    let mut head = PgioResult::default();
    let mut counters = Counters::default();
    for line in text.lines() {
        if line.to_ascii_lowercase().contains("launch") {
            head.launch_s = before(line, "second").or(head.launch_s);
        }
        if let Some((_, connect)) = line.split_once("connect string:") {
            // Quotes may be part of it.
            let quoted = connect.split_once('"').and_then(|(_, rest)| rest.rsplit_once('"'));
            head.connect = quoted.map(|(connect, _)| connect.to_owned());
        }
        counters.add(line);
        if is_result(line) {
            let (launch_s, connect) = (head.launch_s.take(), head.connect.take());
            results.push(PgioResult { launch_s, connect, rise: counters.rise(), ..result(line) });
            counters = Counters::default();
        }
    }
    results
}

/// Rows of pg_stat_database before and after a run, by the names of their columns.
#[derive(Default)]
struct Counters<'a> {
    columns: Vec<&'a str>,
    before: Vec<&'a str>,
    after: Vec<&'a str>,
}

impl<'a> Counters<'a> {
    fn add(&mut self, line: &'a str) {
        let cells = |row: &'a str| row.split('|').map(str::trim).collect();
        if line.contains("blks_read") && line.contains('|') {
            self.columns = cells(line);
        } else if let Some(row) = line.trim_start().strip_prefix("BEFORE:") {
            self.before = cells(row);
        } else if let Some(row) = line.trim_start().strip_prefix("AFTER:") {
            self.after = cells(row);
        }
    }

    fn rise(&self) -> Rise {
        let rise = |name: &str| {
            let at = self.columns.iter().position(|column| *column == name)?;
            let figure = |row: &[&str]| number::count(row.get(at)?).map(Printed::counted);
            let (after, before) = (figure(&self.after)?, figure(&self.before)?);
            Some(after.plus(before.scaled(-1.0))).filter(|rise| rise.value > 0.0)
        };
        Rise { reads: rise("blks_read"), hits: rise("blks_hit"), read_ms: rise("blk_read_time") }
    }
}

fn result(line: &str) -> PgioResult {
    let quoted = |name: &str| {
        let (_, rest) = line.split_once(name)?;
        number::count(rest.trim_start().strip_prefix('>')?.split('<').next()?)
    };
    let name = line.split_once("DBNAME:").and_then(|(_, rest)| rest.trim().split(['.', ' ']).next());
    PgioResult {
        database: name.filter(|name| !name.is_empty()).map(str::to_owned),
        schemas: before(line, "schema").map(|count| count as u32),
        threads: before(line, "thread").map(|count| count as u32),
        seconds: line.split_once("Run time:").and_then(|(_, rest)| figure(rest.trim().split(' ').next()?)),
        reads_per_s: quoted("RIOPS"),
        hits_per_s: quoted("CACHE_HITS/s"),
        ms_per_read: quoted("TIME_PER_READ_MS").filter(|ms| ms.value > 0.0),
        ..PgioResult::default()
    }
}

fn before(line: &str, word: &str) -> Option<f64> {
    let at = line.find(word)?;
    let figure = line[..at].trim_end().rsplit([' ', '(', ':', '=']).next()?;
    self::figure(figure)
}

fn figure(text: &str) -> Option<f64> {
    number::count(text).map(|figure| figure.value).filter(|figure| (0.0..1e9).contains(figure))
}
