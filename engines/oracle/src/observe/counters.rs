//! The target's counters: our own sessions' and the instance's. An unreadable view is reported with its GRANT, and its
//! figures are unknown.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use mindful_core::Result;
use mindful_core::contract::event::Events;
use mindful_core::contract::metric::{Counter, Metric, Phase, SampledSource, Sampler, Scope};
use mindful_core::record::latency::{Recorder, SampledLatencies, WAIT_HISTOGRAM, wait_kind};
use mindful_oracle_terms::{self as oracle, event, statistic};

use crate::codes::denied;
use crate::connect::driver::{Failure, Row};
use crate::connect::link::{Link, number, text};
use crate::connect::{Doing, explain};
use crate::observe::machine;
use crate::observe::own::{self, Column, Monitors, Own, SOURCES, Views};
use crate::work::statement;

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
    let mut views = Views { samplers: Vec::new(), events, monitors: Arc::clone(&monitors) };
    for source in SOURCES {
        let (link, own, monitors) = (Arc::clone(link), Arc::clone(own), Arc::clone(&monitors));
        let read = move || {
            let values = own.read(&link, &mut own::held(&monitors), source)?;
            // A statistic that our sessions have not used yet has no row: it is 0, not unknown.
            Ok(source.columns.iter().map(|column| Some(values.get(column.0).copied().unwrap_or(0.0))).collect())
        };
        views.add(source.name, Scope::Server, source.views, metrics(source.columns), read)?;
    }
    let names = INSTANCE.iter().map(|column| column.0);
    let sql = statement::of_names(include_str!("../../sql/counters/instance.sql"), names);
    views.add_rows("v$sysstat", Scope::Server, &["V_$SYSSTAT"], metrics(INSTANCE), sql, instance_values)?;
    let mut histogram = Histogram::new(monitors);
    match histogram.counts() {
        Ok(_) => views.samplers.push(Box::new(histogram)),
        Err(failure) => {
            events.emit(denied(&failure, "v$event_histogram_micro", &["V_$EVENT_HISTOGRAM_MICRO"])?);
        }
    }
    machine::add_samplers(&mut views, link)?;
    Ok(views.samplers)
}

fn metrics(columns: &[Column]) -> Vec<Metric> {
    columns.iter().map(|(_, name, unit, help)| Metric::counter(*name, unit, help)).collect()
}

/// Statistics of the whole instance, summed over instances.
fn instance_values(rows: &[Row]) -> Vec<Option<f64>> {
    let value = |column: &Column| {
        let of_name = rows.iter().filter(|row| text(row, 0) == Some(column.0));
        of_name.filter_map(|row| Some(number(row, 1)? as f64)).reduce(|sum, value| sum + value)
    };
    INSTANCE.iter().map(value).collect()
}

/// Counts of waits by kind and upper bound of the bucket, us.
type Buckets = BTreeMap<(&'static str, u64), u64>;

/// Waits by duration that the instance counted, of all sessions.
struct Histogram {
    monitors: Monitors,
    source: SampledSource,
    before: Buckets,
    latencies: Option<SampledLatencies>,
}

impl Histogram {
    fn new(monitors: Monitors) -> Self {
        let metrics = wait_kind::ALL
            .map(|(kind, what)| Metric::counter(format!("{kind}_waits"), "1", &format!("All {what}, of all sessions")));
        let source = SampledSource::new(WAIT_HISTOGRAM, metrics).with(Scope::Server, Phase::Boundary);
        Self { monitors, source, before: Buckets::new(), latencies: None }
    }

    fn counts(&mut self) -> Result<Buckets, Failure> {
        let names = HISTOGRAM.iter().map(|(event, _)| *event);
        let sql = statement::of_names(include_str!("../../sql/counters/histogram.sql"), names);
        let mut counts = Buckets::new();
        for (kind, us, count) in own::rows(&self.monitors, &sql)?.iter().filter_map(bucket) {
            *counts.entry((kind, us)).or_default() += count;
        }
        Ok(counts)
    }

    fn since(&self, now: &Buckets) -> SampledLatencies {
        let mut sampled = SampledLatencies { one_of: 1, ..SampledLatencies::default() };
        for (kind, _) in wait_kind::ALL {
            let mut recorder = Recorder::new();
            for (bucket, count) in now.iter().filter(|((of, _), _)| *of == kind) {
                let before = self.before.get(bucket).copied().unwrap_or(0);
                // A bucket ends at its bound and begins at half of it.
                recorder.record_many(bucket.1 * 750, count.saturating_sub(before));
            }
            if recorder.count() > 0 {
                sampled.kinds.insert(kind.to_owned(), recorder.drain());
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
        let of = |kind| counts.iter().filter(|((of, _), _)| *of == kind).map(|(_, count)| *count as f64).sum();
        let sums = wait_kind::ALL.map(|(kind, _)| Some(of(kind)));
        self.before = counts;
        Ok(sums.into())
    }

    fn latencies(&mut self) -> Option<SampledLatencies> {
        self.latencies.take()
    }
}
