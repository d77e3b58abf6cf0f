//! Where sessions spend their time: their wait events, sampled over one connection. No extension, no view of others.
//!
//! Counts of samples only tell shares of time when samples are independent of the work, so the time between two is
//! drawn anew each time.

mod cost;
mod events;

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mindful_core::draw::draw_unit;
use mindful_core::metric::{Metric, Sampler, shared};
use mindful_core::wait::{SAMPLES, WaitEvent};
use mindful_core::{Error, Result};
use mindful_host::priority;
use tokio_postgres::{Row, Statement};

use self::cost::Cost;
use crate::connect::{Canceller, Connection};
use crate::error::Failure;
use crate::link::Link;

/// Whose sessions are sampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whom {
    /// Those of this mindful.
    Ours,
    /// All clients of the server.
    AllClients,
}

/// Least time between two looks at the reads under way: the server goes through a table of them as long as its connections
/// are many.
const READS_EVERY: Duration = Duration::from_millis(250);

/// Stream of the draws that spread samples in time.
const SPREAD: i64 = 0x77_61_69_74;
/// What the sampling connection calls itself, so that it does not count as one of the sessions.
const APPLICATION_NAME: &str = "mindful waits";

/// The samplers `waits` (samples by wait event), `wait_sampling` (what that costs) and, where the server tells it, `pg_aios`
/// (reads under way), from one sampling thread that ends with the last of them. A sample is taken every `interval`, or less often where that cost too much.
///
/// Looks at the sessions of `whom`.
pub fn samplers(link: &Link, interval: Duration, whom: Whom) -> Result<Vec<Box<dyn Sampler>>> {
    let sampling = Arc::new(Sampling::start(link, interval, whom)?);
    let names = events::metrics();
    let counter = |event: WaitEvent| {
        let help = match event {
            events::AUTOVACUUM => "Samples in which an autovacuum worker was at work, in any database",
            _ => "Sessions found at this, summed over all samples",
        };
        Metric::counter(event.to_string(), "samples", help)
    };
    let waits = Waits { sampling: Arc::clone(&sampling), metrics: names.map(counter).collect() };
    let cost = CostOfWaits { sampling: Arc::clone(&sampling), metrics: cost::metrics() };
    let mut samplers: Vec<Box<dyn Sampler>> = vec![Box::new(waits), Box::new(cost)];
    if sampling.sees_reads {
        samplers.push(Box::new(ReadsInFlight { sampling, metrics: reads_in_flight() }));
    }
    Ok(samplers)
}

/// What the sampling thread has found so far.
struct Found {
    /// Samples in the order of [`events::metrics`].
    counts: Vec<f64>,
    cost: Cost,
    /// Reads found under way, summed over all looks at them, and how many these were.
    reads: (f64, f64),
    /// Why there will be no more samples.
    fault: Option<Error>,
}

/// The sampling thread; it ends when this is dropped.
struct Sampling {
    found: Arc<Mutex<Found>>,
    sees_reads: bool,
    canceller: Canceller,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Sampling {
    fn start(link: &Link, interval: Duration, whom: Whom) -> Result<Self> {
        let link = Arc::new(link.apart()?);
        let connection = link.connect(0)?;
        let canceller = connection.canceller();
        let monitor = link.run("opening the sampling of wait events", Monitor::open(&link, connection, whom))?;
        let counts = vec![0.0; events::metrics().count()];
        let cost = Cost::new(monitor.pid, link.server().host_is_local(0), interval);
        let found = Arc::new(Mutex::new(Found { counts, cost, reads: (0.0, 0.0), fault: None }));
        let (sees_reads, (stop, stopped)) = (monitor.reads.is_some(), channel());
        let shared = Arc::clone(&found);
        let thread = std::thread::Builder::new()
            .name("waits".to_owned())
            .spawn(move || {
                priority::go_first();
                sample_until(&stopped, &monitor, &shared);
            })
            .map_err(|error| Error::run(format!("cannot start a thread ({error})"), "raise the limit of processes"))?;
        Ok(Self { found, sees_reads, canceller, stop: Some(stop), thread: Some(thread) })
    }

    /// What is found by now; an error once sampling has failed, for old counts would pass as new ones.
    fn found(&self) -> Result<MutexGuard<'_, Found>> {
        let found = held(&self.found);
        match &found.fault {
            Some(fault) => Err(fault.clone()),
            None => Ok(found),
        }
    }
}

impl Drop for Sampling {
    fn drop(&mut self) {
        drop(self.stop.take());
        // A sample under way ends with its connection, even if the server has vanished.
        self.canceller.sever();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn held(found: &Mutex<Found>) -> MutexGuard<'_, Found> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
}

fn sample_until(stopped: &Receiver<()>, monitor: &Monitor, found: &Mutex<Found>) {
    let (mut number, mut looked) = (0, None::<Instant>);
    loop {
        let pause = held(found).cost.interval().mul_f64(0.5 + draw_unit(number, SPREAD));
        if stopped.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        let begun = Instant::now();
        let due = looked.is_none_or(|looked| looked.elapsed() >= READS_EVERY);
        let sample = monitor.sample().and_then(|rows| Ok((rows, if due { monitor.reads_in_flight()? } else { None })));
        let mut found = held(found);
        match sample {
            Ok((rows, reads)) => {
                found.add(&rows, begun.elapsed());
                if let Some(reads) = reads {
                    found.reads = (found.reads.0 + reads, found.reads.1 + 1.0);
                    looked = Some(begun);
                }
            }
            Err(fault) => {
                found.fault = Some(fault);
                return;
            }
        }
        number += 1;
    }
}

impl Found {
    fn add(&mut self, rows: &[Row], took: Duration) {
        let mut pids = Vec::new();
        let (sessions, others): (Vec<_>, Vec<_>) = rows.iter().partition(|row| row.get(3));
        if !others.is_empty() {
            self.count(events::AUTOVACUUM, 1);
        }
        for row in sessions {
            let event = row.get::<_, Option<&str>>(0).zip(row.get::<_, Option<&str>>(1));
            let sessions: Vec<i32> = row.get(2);
            self.count(events::metric_of(event), sessions.len());
            pids.extend(sessions);
        }
        self.cost.sampled(took, &pids);
    }

    fn count(&mut self, event: WaitEvent, samples: usize) {
        if let Some(at) = events::metrics().position(|known| known == event) {
            self.counts[at] += samples as f64;
        }
    }
}

/// The monitoring connection.
struct Monitor {
    connection: Connection,
    /// Goes after the connection, whose end it waits for.
    link: Arc<Link>,
    statement: Statement,
    /// Asks for the reads under way, where the server tells them to this role.
    reads: Option<Statement>,
    pid: i32,
    application_name: String,
    role: u32,
    database: u32,
}

impl Monitor {
    async fn open(link: &Arc<Link>, connection: Connection, whom: Whom) -> std::result::Result<Self, Failure> {
        let whose = connection.query_one(include_str!("../sql/waits/whose.sql"), &[]).await?;
        let settings = format!(
            "SET application_name = '{APPLICATION_NAME}'; SET jit = off; SET plan_cache_mode = force_generic_plan"
        );
        connection.batch_execute(&settings).await?;
        let statement = connection
            .prepare(match whom {
                Whom::Ours => include_str!("../sql/waits/sample.sql"),
                Whom::AllClients => include_str!("../sql/waits/sample_all.sql"),
            })
            .await?;
        let reads = if whose.get("sees_reads") {
            Some(connection.prepare(include_str!("../sql/waits/reads.sql")).await?)
        } else {
            None
        };
        Ok(Self {
            connection,
            link: Arc::clone(link),
            statement,
            reads,
            pid: whose.get("pid"),
            application_name: whose.get("application_name"),
            role: whose.get("role"),
            database: whose.get("database"),
        })
    }

    /// Reads under way in the server; `None` where it does not tell.
    fn reads_in_flight(&self) -> Result<Option<f64>> {
        let Some(reads) = &self.reads else { return Ok(None) };
        self.link.run_on(&self.connection, "looking for reads under way", async {
            Ok(Some(self.connection.query_one(reads, &[]).await?.get::<_, i64>("reads") as f64))
        })
    }

    fn sample(&self) -> Result<Vec<Row>> {
        self.link.run_on(&self.connection, "sampling wait events", async {
            let whose: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
                [&self.application_name, &self.role, &self.database];
            let asked = &whose[..self.statement.params().len()];
            Ok(self.connection.query(&self.statement, asked).await?)
        })
    }
}

/// Metrics of [`ReadsInFlight`].
fn reads_in_flight() -> Vec<Metric> {
    vec![
        Metric::counter(
            shared::READS_IN_FLIGHT,
            "1",
            "Reads of all sessions under way (pg_aios), summed over all looks",
        ),
        Metric::counter(shared::READS_LOOKS, "1", "How often it was looked for reads under way"),
    ]
}

struct ReadsInFlight {
    sampling: Arc<Sampling>,
    metrics: Vec<Metric>,
}

impl Sampler for ReadsInFlight {
    fn name(&self) -> &'static str {
        "pg_aios"
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        let (reads, looks) = self.sampling.found()?.reads;
        Ok(vec![Some(reads), Some(looks)])
    }
}

struct Waits {
    sampling: Arc<Sampling>,
    metrics: Vec<Metric>,
}

impl Sampler for Waits {
    fn name(&self) -> &'static str {
        SAMPLES
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        Ok(self.sampling.found()?.counts.iter().copied().map(Some).collect())
    }
}

struct CostOfWaits {
    sampling: Arc<Sampling>,
    metrics: Vec<Metric>,
}

impl Sampler for CostOfWaits {
    fn name(&self) -> &'static str {
        "wait_sampling"
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        Ok(self.sampling.found()?.cost.values())
    }
}
