//! Where sessions spend their time: their wait events, sampled over one connection. No extension, no view of others.

mod events;
mod review;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use mindful_core::Result;
use mindful_core::contract::metric::{Counter, Metric, Phase, SampledSource, Sampler, Scope};
use mindful_core::contract::wait::{WaitClass, WaitEvent};
use mindful_sql::observe::wait_sampling::{self as sampling, Sampling, SamplingCost, Whom};
use tokio_postgres::{Row, Statement};

use self::review::Review;
use crate::connect::Connection;
use crate::connect::abort::Sessions;
use crate::connect::link::Link;
use crate::error::Failure;

/// Least time between two samples of the reads under way: the server reads a table that grows with its number of
/// connections.
const READS_EVERY: Duration = Duration::from_millis(250);

/// Application name of the sampling connection, so that it does not count as a session.
const APPLICATION_NAME: &str = "mindful waits";

/// The samplers `waits` and `wait_sampling` of [`sampling::start_sampling`] and, if the server has it, `pg_aios` (reads in
/// progress), of the sessions of `whom`.
pub(crate) fn samplers(
    link: &Link,
    interval: Duration,
    whom: Whom,
    sessions: &Arc<Sessions>,
    planned: u32,
) -> Result<Vec<Box<dyn Sampler>>> {
    let link = Arc::new(link.apart()?);
    let connection = link.connect(0)?;
    let monitor = link.run("opening the sampling of wait events", Monitor::open(&link, connection, whom, sessions))?;
    let reads = monitor.reads.as_ref().map(|reads| Arc::clone(&reads.seen));
    let (sampling, samplers) =
        sampling::start_sampling(monitor, events::metrics().collect(), interval, "process", planned)?;
    let mut samplers: Vec<Box<dyn Sampler>> = samplers.into();
    samplers.extend(reads.map(|seen| reads_in_flight(sampling, seen)));
    Ok(samplers)
}

struct Monitor {
    connection: Connection,
    /// Dropped after the connection, because it waits for its end.
    link: Arc<Link>,
    statement: Statement,
    /// The reads under way, if the server shows them to this role.
    reads: Option<Reads>,
    review: Review,
    application_name: String,
    role: u32,
    database: u32,
    sessions: Arc<Sessions>,
    by_session: Vec<(u32, WaitClass)>,
}

impl Monitor {
    async fn open(
        link: &Arc<Link>,
        connection: Connection,
        whom: Whom,
        sessions: &Arc<Sessions>,
    ) -> Result<Self, Failure> {
        let identity = connection.query_one(include_str!("../../sql/waits/identity.sql"), &[]).await?;
        let settings = format!(
            "SET application_name = '{APPLICATION_NAME}'; SET jit = off; SET plan_cache_mode = force_generic_plan"
        );
        connection.batch_execute(&settings).await?;
        let statement = connection
            .prepare(match whom {
                Whom::Ours => include_str!("../../sql/waits/sample.sql"),
                Whom::AllClients => include_str!("../../sql/waits/sample_all.sql"),
            })
            .await?;
        let reads = if identity.get("sees_reads") {
            let statement = connection.prepare(include_str!("../../sql/waits/reads.sql")).await?;
            Some(Reads { statement, looked: None, seen: Arc::default() })
        } else {
            None
        };
        Ok(Self {
            connection,
            link: Arc::clone(link),
            statement,
            reads,
            review: Review::new(identity.get("pid"), link.server().host_is_local(0)),
            application_name: identity.get("application_name"),
            role: identity.get("role"),
            database: identity.get("database"),
            sessions: Arc::clone(sessions),
            by_session: Vec::new(),
        })
    }

    fn query_sessions(&self) -> Result<Vec<Row>> {
        self.link.run_on(&self.connection, "sampling wait events", async {
            let identity: [&(dyn tokio_postgres::types::ToSql + Sync); 3] =
                [&self.application_name, &self.role, &self.database];
            let asked = &identity[..self.statement.params().len()];
            Ok(self.connection.query(&self.statement, asked).await?)
        })
    }

    fn look_at_reads(&mut self) -> Result<()> {
        let due = |reads: &&mut Reads| reads.looked.is_none_or(|looked| looked.elapsed() >= READS_EVERY);
        let Some(reads) = self.reads.as_mut().filter(due) else { return Ok(()) };
        let under_way = self.link.run_on(&self.connection, "looking for reads under way", async {
            Ok(self.connection.query_one(&reads.statement, &[]).await?.get::<_, i64>("reads") as f64)
        })?;
        let mut seen = reads.seen.lock().unwrap_or_else(PoisonError::into_inner);
        *seen = (seen.0 + under_way, seen.1 + 1.0);
        reads.looked = Some(Instant::now());
        Ok(())
    }
}

impl sampling::Monitor for Monitor {
    fn sample(&mut self) -> Result<Vec<(WaitEvent, f64)>> {
        let rows = self.query_sessions()?;
        self.look_at_reads()?;
        let (mut seen, mut pids, mut by_session) = (Vec::new(), Vec::new(), Vec::new());
        let numbers = self.sessions.by_pid();
        if rows.iter().any(|row| row.get::<_, &str>(3) == "maintenance") {
            seen.push((events::AUTOVACUUM, 1.0));
        }
        for row in &rows {
            let event = row.get::<_, Option<&str>>(0).zip(row.get::<_, Option<&str>>(1));
            let found: Vec<i32> = row.get(2);
            match row.get(3) {
                "session" => {
                    let event = events::metric_of(event);
                    seen.push((event, found.len() as f64));
                    by_session.extend(found.iter().filter_map(|pid| Some((*numbers.get(pid)?, event.class))));
                    pids.extend(found);
                }
                "other" => seen.push((events::OTHERS, found.len() as f64)),
                _ => {}
            }
        }
        self.review.seen = pids;
        self.by_session = by_session;
        Ok(seen)
    }

    fn by_session(&self) -> Vec<(u32, WaitClass)> {
        self.by_session.clone()
    }

    fn threads(&self) -> Vec<u32> {
        self.review.threads()
    }

    fn server_cpu(&self) -> Option<Duration> {
        self.review.server_cpu()
    }

    fn interval(&mut self, cost: &SamplingCost) -> Duration {
        self.review.interval(cost)
    }

    fn canceller(&self) -> Box<dyn Fn() + Send + Sync> {
        let canceller = self.connection.canceller();
        // It ends with its connection, even if the server has vanished.
        Box::new(move || canceller.sever())
    }
}

struct Reads {
    statement: Statement,
    looked: Option<Instant>,
    /// Sum over all samples, and their number.
    seen: Arc<Mutex<(f64, f64)>>,
}

/// `reads_in_flight` and `reads_looks`, from `seen`.
fn reads_in_flight(sampling: Arc<Sampling>, seen: Arc<Mutex<(f64, f64)>>) -> Box<dyn Sampler> {
    let in_flight = "Reads of all sessions under way (pg_aios), summed over all samples";
    let metrics = [
        Metric::counter(Counter::ReadsInFlight, "1", in_flight),
        Metric::counter(Counter::ReadsLooks, "1", "Number of samples of reads in progress"),
    ];
    SampledSource::new("pg_aios", metrics).with(Scope::Server, Phase::Boundary).read_by(move || {
        sampling.check()?;
        let (reads, looks) = *seen.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(vec![Some(reads), Some(looks)])
    })
}
