//! The target's counters: our own sessions' and the instance's. An unreadable view is reported with its GRANT, and its
//! figures are unknown.

use std::sync::{Arc, Mutex};

use mindful_core::Result;
use mindful_core::contract::event::Events;
use mindful_core::contract::metric::{Counter, Metric, Phase, SampledSource, Sampler, Scope};
use mindful_core::record::latency::{Latency, Recorder, SampledLatencies, WAIT_HISTOGRAM, wait_kind};
use mindful_oracle_terms::{self as oracle, event, statistic};

use crate::codes::denied;
use crate::connect::driver::{Failure, Row};
use crate::connect::link::{Link, QUESTION, number, text};
use crate::connect::{Doing, explain};
use crate::observe::machine;
use crate::observe::own::{self, Monitors, Own, Source, held, view_sampler};
use crate::work::statement;

/// Counters of a source of our own sessions: its key there, the metric's name, unit and help.
type Column = (&'static str, &'static str, &'static str, &'static str);

const fn columns(source: Source) -> &'static [Column] {
    match source {
        Source::Statistics => STATISTICS,
        Source::Events => EVENTS,
        Source::Times => TIMES,
    }
}

const STATISTICS: &[Column] = &[
    (statistic::LOGICAL_READS, Counter::LogicalReads.name(), "blocks", "Requests of our sessions to the buffer cache"),
    (statistic::CONSISTENT_GETS, "consistent_gets", "blocks", "Of these, requests of reads"),
    (statistic::BLOCKS_READ, Counter::PhysicalReads.name(), "blocks", "Blocks read by our sessions"),
    (statistic::READ_REQUESTS, Counter::ReadRequests.name(), "1", "Read requests for these blocks"),
    (statistic::READS_DIRECT, Counter::ReadsDirect.name(), "blocks", "Blocks read past the cache"),
    (statistic::READS_PREFETCHED, Counter::ReadsAhead.name(), "blocks", "Blocks read ahead of their use"),
    (statistic::REDO_BYTES, Counter::LogBytes.name(), "bytes", "Redo of our sessions"),
    (statistic::COMMITS, Counter::Commits.name(), "1", "Transactions our sessions committed"),
    (statistic::SYNCH_WRITES, Counter::CommitWaits.name(), "1", "Waits of our sessions for redo to be on storage"),
    (statistic::SYNCH_TIME, "redo_synch_time", "us", "Time of these waits"),
    (statistic::CELL_SMART_BYTES, Counter::FilteredBytes.name(), "bytes", "Bytes that cells sent after a smart scan"),
    (statistic::CELL_FLASH_HITS, Counter::StorageCacheReads.name(), "1", "Reads that the flash cache of cells served"),
];

const EVENTS: &[Column] = &[
    (own::SINGLE_READS, Counter::SingleReads.name(), "1", "Reads of one block for which a session waited"),
    (own::SINGLE_READ_TIME, Counter::SingleReadTimeUs.name(), "us", "Time of these waits"),
    (own::READ_TIME, Counter::ReadTimeUs.name(), "us", "Time our sessions waited for reads"),
    (own::LOG_TIME, "log_wait_time", "us", "Time our sessions waited for redo"),
];

const TIMES: &[Column] = &[
    ("DB time", Counter::BusyTimeUs.name(), "us", "Time our sessions were busy, on a CPU or waiting"),
    ("DB CPU", Counter::ServerCpuUs.name(), "us", "CPU of our sessions"),
];

/// Counters of the whole instance, everybody's.
const INSTANCE: &[Column] = &[
    (statistic::LOGICAL_READS, "instance_logical_reads", "blocks", "Requests to the buffer cache, of all sessions"),
    (statistic::BLOCKS_READ, "instance_physical_reads", "blocks", "Blocks read, of everybody"),
    (statistic::BLOCKS_WRITTEN, Counter::PhysicalWrites.name(), "blocks", "Blocks written, of everybody"),
    (statistic::WRITE_REQUESTS, Counter::WriteRequests.name(), "1", "Requests that wrote them"),
    (statistic::REDO_BYTES, "instance_redo", "bytes", "Redo of everybody"),
    (statistic::REDO_WRITES, Counter::LogWrites.name(), "1", "Writes of redo"),
    (statistic::COMMITS, "instance_commits", "1", "Transactions committed by everybody"),
];

/// Events with a histogram, and the kind of wait of each; Exadata's reads of one block have a different name.
const HISTOGRAM: &[(&str, &str)] = &[
    (event::SINGLE_READ, wait_kind::READ),
    (event::LOG_WRITE, wait_kind::LOG_WRITE),
    (event::LOG_SYNC, wait_kind::LOG_SYNC),
    (event::PARALLEL_WRITE, wait_kind::WRITE),
];

/// The samplers of all views that can be read; the others are findings.
pub(crate) fn samplers(link: &Arc<Link>, own: &Arc<Own>, events: &dyn Events) -> Result<Vec<Box<dyn Sampler>>> {
    let monitors: Monitors = Arc::new(Mutex::new(own::monitors(link, "counters")?));
    let mut samplers: Vec<Box<dyn Sampler>> = Vec::new();
    for source in Source::ALL {
        let (link, own, monitors) = (Arc::clone(link), Arc::clone(own), Arc::clone(&monitors));
        let read = move || own_values(&own, &link, &monitors, source);
        match read() {
            Ok(_) => samplers.push(view_sampler(source.name(), Scope::Server, metrics(columns(source)), read)),
            Err(failure) => events.emit(denied(&failure, source.name(), source.views())?),
        }
    }
    let names: Vec<&str> = INSTANCE.iter().map(|column| column.0).collect();
    let sql = statement::of_names(include_str!("../../sql/counters/instance.sql"), &names);
    let of_instance = Arc::clone(&monitors);
    let read = move || instance_values(&of_instance, &sql);
    match read() {
        Ok(_) => samplers.push(view_sampler("v$sysstat", Scope::Server, metrics(INSTANCE), read)),
        Err(failure) => events.emit(denied(&failure, "v$sysstat", &["V_$SYSSTAT"])?),
    }
    let mut histogram = Histogram::new(Arc::clone(&monitors));
    match histogram.counts() {
        Ok(_) => samplers.push(Box::new(histogram)),
        Err(failure) => {
            events.emit(denied(&failure, "v$event_histogram_micro", &["V_$EVENT_HISTOGRAM_MICRO"])?);
        }
    }
    samplers.extend(machine::samplers(link, &monitors, events)?);
    Ok(samplers)
}

fn metrics(columns: &[Column]) -> Vec<Metric> {
    columns.iter().map(|(_, name, unit, help)| Metric::counter(*name, unit, help)).collect()
}

fn own_values(own: &Own, link: &Link, monitors: &Monitors, source: Source) -> Result<Vec<Option<f64>>, Failure> {
    let values = own.read(link, &mut held(monitors), source)?;
    // A statistic that our sessions have not used yet has no row: it is 0, not unknown.
    Ok(columns(source).iter().map(|column| Some(values.get(column.0).copied().unwrap_or(0.0))).collect())
}

/// Statistics of the whole instance, summed over instances.
fn instance_values(monitors: &Monitors, sql: &str) -> Result<Vec<Option<f64>>, Failure> {
    let mut values = vec![None; INSTANCE.len()];
    for monitor in held(monitors).iter_mut() {
        for row in monitor.connection.query(sql, &[], QUESTION)? {
            let at = INSTANCE.iter().position(|column| text(&row, 0) == Some(column.0));
            if let (Some(at), Some(value)) = (at, number(&row, 1)) {
                *values[at].get_or_insert(0.0) += value as f64;
            }
        }
    }
    Ok(values)
}

/// Waits by duration that the instance counted, of all sessions.
struct Histogram {
    monitors: Monitors,
    source: SampledSource,
    before: Vec<(String, u64, u64)>,
    latencies: Option<SampledLatencies>,
}

impl Histogram {
    fn new(monitors: Monitors) -> Self {
        let metrics = wait_kind::ALL
            .map(|(kind, what)| Metric::counter(format!("{kind}_waits"), "1", &format!("All {what}, of all sessions")));
        let source = SampledSource::new(WAIT_HISTOGRAM, metrics).with(Scope::Server, Phase::Boundary);
        Self { monitors, source, before: Vec::new(), latencies: None }
    }

    /// Kind, upper bound of the bucket in us, and count of all waits so far.
    fn counts(&mut self) -> Result<Vec<(String, u64, u64)>, Failure> {
        let names: Vec<&str> = HISTOGRAM.iter().map(|(event, _)| *event).collect();
        let sql = statement::of_names(include_str!("../../sql/counters/histogram.sql"), &names);
        let mut counts: Vec<(String, u64, u64)> = Vec::new();
        for monitor in held(&self.monitors).iter_mut() {
            for row in monitor.connection.query(&sql, &[], QUESTION)? {
                let Some((kind, us, count)) = bucket(&row) else { continue };
                match counts.iter_mut().find(|(known, at, _)| *known == kind && *at == us) {
                    Some((.., sum)) => *sum += count,
                    None => counts.push((kind.to_owned(), us, count)),
                }
            }
        }
        Ok(counts)
    }

    fn since(&self, now: &[(String, u64, u64)]) -> SampledLatencies {
        let mut sampled = SampledLatencies { one_of: 1, ..SampledLatencies::default() };
        for (kind, _) in wait_kind::ALL {
            let mut recorder = Recorder::new();
            for (_, us, count) in now.iter().filter(|(of, ..)| of == kind) {
                let known = self.before.iter().find(|(of, at, _)| of == kind && at == us).map_or(0, |(.., n)| *n);
                // A bucket ends at its bound and begins at half of it.
                recorder.record_many(us * 750, count.saturating_sub(known));
            }
            let latency: Latency = recorder.drain();
            if !latency.buckets.is_empty() {
                sampled.kinds.insert(kind.to_owned(), latency);
            }
        }
        sampled
    }
}

fn bucket(row: &Row) -> Option<(&'static str, u64, u64)> {
    let name = text(row, 0)?;
    let (_, kind) = HISTOGRAM.iter().find(|(event, _)| oracle::counterpart(name) == *event)?;
    Some((kind, number(row, 1)?, number(row, 2)?))
}

impl Sampler for Histogram {
    fn source(&self) -> &SampledSource {
        &self.source
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        let counts = self.counts();
        let counts = counts.map_err(|failure| explain(&failure, Doing::Work, "reading v$event_histogram_micro"))?;
        self.latencies = (!self.before.is_empty()).then(|| self.since(&counts));
        let of = |kind| counts.iter().filter(|(known, ..)| known == kind).map(|(.., n)| *n as f64).sum();
        let sums = wait_kind::ALL.map(|(kind, _)| Some(of(kind)));
        self.before = counts;
        Ok(sums.into())
    }

    fn latencies(&mut self) -> Option<SampledLatencies> {
        self.latencies.take()
    }
}
