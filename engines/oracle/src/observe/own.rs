//! The work of our own sessions: the statistics of each while it is connected, and its last ones afterwards.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mindful_core::contract::event::Events;
use mindful_core::contract::metric::{Counter, Metric, Phase, SampledSource, Sampler, Scope};
use mindful_core::contract::wait::WaitClass;
use mindful_core::{Result, contract::clock};
use mindful_oracle_terms::{self as oracle, event, statistic};

use crate::codes::denied;
use crate::connect::driver::{Connection, Failure, Row};
use crate::connect::link::{self, Link, QUESTION, number, text};
use crate::connect::{Doing, explain};
use crate::work::statement;

/// Counters of a view: its key there, the metric's name, unit and help.
pub(crate) type Column = (&'static str, &'static str, &'static str, &'static str);

/// A source of a session's statistics.
pub(crate) struct Source {
    pub name: &'static str,
    pub views: &'static [&'static str],
    pub columns: &'static [Column],
    all: &'static str,
    mine: &'static str,
}

pub(crate) static STATISTICS: Source = Source {
    name: "v$sesstat",
    views: &["V_$SESSION", "V_$SESSTAT", "V_$STATNAME"],
    columns: &[
        (
            statistic::LOGICAL_READS,
            Counter::LogicalReads.name(),
            "blocks",
            "Requests of our sessions to the buffer cache",
        ),
        (statistic::CONSISTENT_GETS, "consistent_gets", "blocks", "Of these, requests of reads"),
        (statistic::BLOCKS_READ, Counter::PhysicalReads.name(), "blocks", "Blocks read by our sessions"),
        (statistic::READ_REQUESTS, Counter::ReadRequests.name(), "1", "Read requests for these blocks"),
        (statistic::READS_DIRECT, Counter::ReadsDirect.name(), "blocks", "Blocks read past the cache"),
        (statistic::READS_PREFETCHED, Counter::ReadsAhead.name(), "blocks", "Blocks read ahead of their use"),
        (statistic::REDO_BYTES, Counter::LogBytes.name(), "bytes", "Redo of our sessions"),
        (statistic::COMMITS, Counter::Commits.name(), "1", "Transactions our sessions committed"),
        (statistic::SYNCH_WRITES, Counter::CommitWaits.name(), "1", "Waits of our sessions for redo to be on storage"),
        (statistic::SYNCH_TIME, "redo_synch_time", "us", "Time of these waits"),
        (
            statistic::CELL_SMART_BYTES,
            Counter::FilteredBytes.name(),
            "bytes",
            "Bytes that cells sent after a smart scan",
        ),
        (
            statistic::CELL_FLASH_HITS,
            Counter::StorageCacheReads.name(),
            "1",
            "Reads that the flash cache of cells served",
        ),
    ],
    all: include_str!("../../sql/counters/own.sql"),
    mine: include_str!("../../sql/counters/mine.sql"),
};
static EVENTS: Source = Source {
    name: "v$session_event",
    views: &["V_$SESSION", "V_$SESSION_EVENT"],
    columns: &[
        (SINGLE_READS, Counter::SingleReads.name(), "1", "Reads of one block for which a session waited"),
        (SINGLE_READ_TIME, Counter::SingleReadTimeUs.name(), "us", "Time of these waits"),
        (READ_TIME, Counter::ReadTimeUs.name(), "us", "Time our sessions waited for reads"),
        (LOG_TIME, "log_wait_time", "us", "Time our sessions waited for redo"),
    ],
    all: include_str!("../../sql/counters/own_events.sql"),
    mine: include_str!("../../sql/counters/my_events.sql"),
};
static TIMES: Source = Source {
    name: "v$sess_time_model",
    views: &["V_$SESSION", "V_$SESS_TIME_MODEL"],
    columns: &[
        ("DB time", Counter::BusyTimeUs.name(), "us", "Time our sessions were busy, on a CPU or waiting"),
        ("DB CPU", Counter::ServerCpuUs.name(), "us", "CPU of our sessions"),
    ],
    all: include_str!("../../sql/counters/own_time.sql"),
    mine: include_str!("../../sql/counters/my_time.sql"),
};
pub(crate) static SOURCES: [&Source; 3] = [&STATISTICS, &EVENTS, &TIMES];

impl Source {
    /// The statements that read it for all our sessions, and for the calling session.
    pub(crate) fn statements(&self) -> [String; 2] {
        [self.all, self.mine]
            .map(|template| statement::of_names(template, STATISTICS.columns.iter().map(|column| column.0)))
    }

    /// Adds a row, its columns from `at` on, to the values of a session.
    fn add(&self, row: &Row, at: usize, values: &mut Values) {
        let Some(name) = text(row, at) else { return };
        let Some(value) = number(row, at + 1) else { return };
        if self.name != EVENTS.name {
            *values.entry(name.to_owned()).or_default() += value as f64;
            return;
        }
        let us = number(row, at + 2).unwrap_or(0) as f64;
        let mut count = |key: &str, value: f64| *values.entry(key.to_owned()).or_default() += value;
        if oracle::counterpart(name) == event::SINGLE_READ {
            count(SINGLE_READS, value as f64);
            count(SINGLE_READ_TIME, us);
        }
        match oracle::class(name) {
            WaitClass::Read => count(READ_TIME, us),
            WaitClass::Log => count(LOG_TIME, us),
            _ => {}
        }
    }
}

/// Sums over events: number and time of single block reads, time of all reads and of all waits for redo, us.
const SINGLE_READS: &str = "single block reads";
const SINGLE_READ_TIME: &str = "single block read time";
const READ_TIME: &str = "read time";
const LOG_TIME: &str = "log time";

pub(crate) type Values = BTreeMap<String, f64>;

#[derive(Debug, Default)]
struct Sums {
    /// Of sessions that are gone.
    gone: Values,
    /// As last read, by connection and number of the session.
    live: BTreeMap<(u32, u64), Values>,
}

#[derive(Debug, Default)]
pub(crate) struct Own {
    sums: Mutex<BTreeMap<&'static str, Sums>>,
    /// They are read, so sessions report theirs when they end.
    read: AtomicBool,
    /// Lead of the clock of each service over the first one, us.
    ahead: Mutex<BTreeMap<u32, i64>>,
}

impl Own {
    fn sums(&self) -> MutexGuard<'_, BTreeMap<&'static str, Sums>> {
        self.sums.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last values of an ending session are kept with those of earlier ones.
    pub(crate) fn leave(&self, connection: &mut dyn Connection) {
        if !self.read.load(Ordering::SeqCst) {
            return;
        }
        let Ok(Some((instance, sid))) = whoami(connection) else { return };
        for source in SOURCES {
            let [_, mine] = source.statements();
            let Ok(rows) = connection.query(&mine, &[], QUESTION) else { continue };
            let mut values = Values::new();
            for row in &rows {
                source.add(row, 0, &mut values);
            }
            let mut sums = self.sums();
            let sums = sums.entry(source.name).or_default();
            sums.live.remove(&(instance, sid));
            add_up(&mut sums.gone, &values);
        }
    }

    /// The work of all our sessions so far, from `source`, read by `monitors`, one an instance.
    pub(crate) fn read(&self, link: &Link, monitors: &mut [Monitor], source: &Source) -> Result<Values, Failure> {
        self.read.store(true, Ordering::SeqCst);
        let [all, _] = source.statements();
        let names = link.names_in_server("");
        let mut standing: BTreeMap<(u32, u64), Values> = BTreeMap::new();
        // The lock is held during the query: a session that ends meanwhile is counted once, by its last values.
        let mut sums = self.sums();
        for monitor in monitors {
            for row in monitor.connection.query(&all, &names, QUESTION)? {
                let Some(sid) = number(&row, 0) else { continue };
                source.add(&row, 1, standing.entry((monitor.instance, sid)).or_default());
            }
        }
        let sums = sums.entry(source.name).or_default();
        for (session, values) in &sums.live {
            // Ended without a report: its last known values count.
            if !standing.contains_key(session) {
                add_up(&mut sums.gone, values);
            }
        }
        sums.live = standing;
        let mut all = sums.gone.clone();
        sums.live.values().for_each(|values| add_up(&mut all, values));
        Ok(all)
    }

    /// Lead of the clock of `connection` to service `endpoint` over that of the first service, us.
    pub(crate) fn ahead_us(&self, link: &Link, connection: &mut dyn Connection, endpoint: u32) -> Result<i64> {
        if endpoint == 0 || link.endpoints() == 1 {
            return Ok(0);
        }
        let mut known = self.ahead.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(ahead) = known.get(&endpoint) {
            return Ok(*ahead);
        }
        let mut first = link.connect(0, "clock")?;
        let ahead = offset_us(connection)? - offset_us(&mut *first)?;
        known.insert(endpoint, ahead);
        Ok(ahead)
    }
}

fn add_up(sum: &mut Values, values: &Values) {
    for (name, value) in values {
        *sum.entry(name.clone()).or_default() += value;
    }
}

/// Lead of the instance's clock over this host's, by the quickest of a few answers.
pub(crate) fn offset_us(connection: &mut dyn Connection) -> Result<i64> {
    let mut best = (i64::MAX, 0);
    for _ in 0..5 {
        let asked = clock::now_us();
        let there = link::clock_us(connection)?;
        let answered = clock::now_us();
        best = best.min((answered - asked, there - i64::midpoint(asked, answered)));
    }
    Ok(best.1)
}

/// Instance and number of the session.
fn whoami(connection: &mut dyn Connection) -> Result<Option<(u32, u64)>, Failure> {
    let rows = connection.query(include_str!("../../sql/client/whoami.sql").trim_end(), &[], QUESTION)?;
    let row = rows.first();
    Ok(row.and_then(|row| Some((number(row, 1).unwrap_or(1) as u32, number(row, 0)?))))
}

/// A connection that reads views, and the instance it is on.
pub(crate) struct Monitor {
    pub connection: Box<dyn Connection>,
    pub instance: u32,
}

pub(crate) type Monitors = Arc<Mutex<Vec<Monitor>>>;

pub(crate) fn held(monitors: &Monitors) -> MutexGuard<'_, Vec<Monitor>> {
    monitors.lock().unwrap_or_else(PoisonError::into_inner)
}

pub(crate) fn monitors(link: &Link, role: &str) -> Result<Vec<Monitor>> {
    let mut monitors: Vec<Monitor> = Vec::new();
    for endpoint in 0..link.endpoints() {
        let mut connection = link.connect(endpoint, role)?;
        let instance = whoami(&mut *connection).ok().flatten().map_or(1, |(instance, _)| instance);
        // Services of one instance are read once.
        if !monitors.iter().any(|known| known.instance == instance) {
            monitors.push(Monitor { connection, instance });
        }
    }
    Ok(monitors)
}

/// The rows of `sql` from all instances.
pub(crate) fn rows(monitors: &Monitors, sql: &str) -> Result<Vec<Row>, Failure> {
    let mut rows = Vec::new();
    for monitor in held(monitors).iter_mut() {
        rows.extend(monitor.connection.query(sql.trim_end(), &[], QUESTION)?);
    }
    Ok(rows)
}

/// Samplers of the views that can be read; the others are findings.
pub(crate) struct Views<'a> {
    pub samplers: Vec<Box<dyn Sampler>>,
    pub events: &'a dyn Events,
    pub monitors: Monitors,
}

impl Views<'_> {
    /// Adds the sampler of view `name`, which `values` reads and `grants` permit.
    pub(crate) fn add(
        &mut self,
        name: &'static str,
        scope: Scope,
        grants: &[&str],
        metrics: Vec<Metric>,
        mut values: impl FnMut() -> Result<Vec<Option<f64>>, Failure> + Send + 'static,
    ) -> Result<()> {
        if let Err(failure) = values() {
            self.events.emit(denied(&failure, name, grants)?);
            return Ok(());
        }
        let read = move || values().map_err(|failure| explain(&failure, Doing::Work, &format!("reading {name}")));
        self.samplers.push(SampledSource::new(name, metrics).with(scope, Phase::Boundary).read_by(read));
        Ok(())
    }

    /// The same by the rows of `sql` from all instances.
    pub(crate) fn add_rows(
        &mut self,
        name: &'static str,
        scope: Scope,
        grants: &[&str],
        metrics: Vec<Metric>,
        sql: impl Into<String>,
        values: impl Fn(&[Row]) -> Vec<Option<f64>> + Send + 'static,
    ) -> Result<()> {
        let (monitors, sql) = (Arc::clone(&self.monitors), sql.into());
        self.add(name, scope, grants, metrics, move || Ok(values(&rows(&monitors, &sql)?)))
    }
}
