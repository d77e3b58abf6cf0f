//! A session: one connection with its own page cache, driven operation by operation.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use mindful_core::contract::session::Session;
use mindful_core::contract::slice::{Placement, SliceOrder, SliceReport, session_name};
use mindful_core::dataset::Dataset;
use mindful_core::workload::client_loop::{ClientLoop, Operator};
use mindful_core::workload::draw::mix64;
use mindful_core::workload::{Op, OpKind, Redo, Workload};
use mindful_core::{Error, Result};
use mindful_host::cpu;
use mindful_sql::work::CommitPolicy;
use rusqlite::{CachedStatement, Connection};

use crate::counters::{self, Totals};
use crate::error::explain;
use crate::file::DatabaseFile;
use crate::filler::{Filler, narrow};
use crate::statement;

/// First wait between two checks whether the other writer is done.
const WRITER_POLL: Duration = Duration::from_micros(50);

/// Number of polls after which the wait doubles, up to seven times: many waiters must not take the CPU from the writer.
const LOOKS: i32 = 10;

/// Longest wait for another writer; a longer one is not a session of ours.
const LONGEST_WAIT: Duration = Duration::from_mins(1);

#[derive(Clone, Default)]
pub(crate) struct Shared {
    pub totals: Arc<Totals>,
    /// Grows with each [`mindful_core::Target::interrupt`].
    pub interrupts: Arc<AtomicU64>,
}

pub(crate) struct SqliteSession {
    file: DatabaseFile,
    connection: Connection,
    client: ClientLoop,
    workload: Workload,
    placement: Placement,
    filler: Filler,
    shared: Shared,
    interrupts_seen: Arc<AtomicU64>,
    waited_ns: Arc<AtomicU64>,
}

impl SqliteSession {
    pub(crate) fn new(
        file: &DatabaseFile,
        mut connection: Connection,
        workload: &Workload,
        placement: Placement,
        dataset: &Dataset,
        shared: Shared,
    ) -> Result<Self> {
        let explained = |error: rusqlite::Error| explain(file.path(), &error);
        let seen = shared.interrupts.load(Ordering::SeqCst);
        let (waited_ns, interrupts_seen) = (Arc::default(), Arc::new(AtomicU64::new(seen)));
        let waiting = await_writer(&waited_ns, &shared.interrupts, &interrupts_seen);
        connection.busy_handler(Some(waiting)).map_err(explained)?;
        let stream = mix64(workload.seed ^ u64::from(placement.session) << 32);
        let filler = Filler::new(dataset.content, stream, dataset.blocks_per_schema, file.page_bytes());
        let session = Self {
            file: file.clone(),
            connection,
            client: ClientLoop::new(workload, placement),
            workload: workload.clone(),
            placement,
            filler,
            shared,
            interrupts_seen,
            waited_ns,
        };
        let warm = session.connection.query_row(&statement::select(placement.schema), (1, 1), |_| Ok(()));
        warm.map_err(explained)?;
        Ok(session)
    }

    /// Reads the pages that the session may visit into its cache, in their order, and forgets that it did.
    pub(crate) fn fill_cache(&self) -> Result<()> {
        for schema in self.client.draws.schemas() {
            let filled =
                self.connection.query_row(&statement::text(include_str!("../sql/fill.sql"), schema), [], |_| Ok(()));
            filled.map_err(|error| explain(self.file.path(), &error))?;
        }
        counters::forget(&self.connection);
        Ok(())
    }
}

/// Waits for the other writer in small steps and counts the time; ends when interrupted.
fn await_writer(
    waited_ns: &Arc<AtomicU64>,
    interrupts: &Arc<AtomicU64>,
    seen: &Arc<AtomicU64>,
) -> impl FnMut(i32) -> bool + Send + 'static {
    let (waited_ns, interrupts, seen) = (Arc::clone(waited_ns), Arc::clone(interrupts), Arc::clone(seen));
    let mut since = Instant::now();
    move |turn| {
        let began = Instant::now();
        if turn == 0 {
            since = began;
        }
        if interrupts.load(Ordering::Relaxed) != seen.load(Ordering::Relaxed) || since.elapsed() > LONGEST_WAIT {
            return false;
        }
        std::thread::sleep(WRITER_POLL * (1 << (turn / LOOKS).min(7)));
        waited_ns.fetch_add(began.elapsed().as_nanos() as u64, Ordering::Relaxed);
        true
    }
}

impl Session for SqliteSession {
    fn run_slice(&mut self, order: &SliceOrder) -> Result<SliceReport> {
        self.interrupts_seen.store(self.shared.interrupts.load(Ordering::SeqCst), Ordering::SeqCst);
        let cpu_before = cpu::of_thread();
        let explained = |error: rusqlite::Error| explain(self.file.path(), &error);
        let mut worker = Worker {
            connection: &self.connection,
            schemas: (self.client.draws.schemas().into_iter())
                .map(|schema| Ok((schema, Statements::prepare(&self.connection, schema, &self.workload)?)))
                .collect::<rusqlite::Result<_>>()
                .map_err(explained)?,
            begin: self.connection.prepare_cached("BEGIN IMMEDIATE").map_err(explained)?,
            commit: self.connection.prepare_cached("COMMIT").map_err(explained)?,
            file: &self.file,
            workload: &self.workload,
            session: self.placement.session,
            filler: &mut self.filler,
            interrupts: &self.shared.interrupts,
            interrupts_seen: self.interrupts_seen.load(Ordering::SeqCst),
            policy: CommitPolicy::new(self.workload.commit),
            commits: 0,
            in_commit: Duration::ZERO,
        };
        let outcome = self.client.run_slice(order, &mut worker);
        let (commits, commit_us) = (worker.commits, worker.in_commit.as_micros() as u64);
        drop(worker);
        let writer_wait_us = self.waited_ns.swap(0, Ordering::Relaxed) / 1_000;
        self.shared.totals.publish(&self.connection, commits, commit_us, writer_wait_us);
        if outcome.is_err() && !self.connection.is_autocommit() {
            self.connection.execute_batch("ROLLBACK").map_err(explained)?;
        }
        let mut report = outcome?;
        report.writer_wait_us = Some(writer_wait_us);
        report.cpu_us = Some(cpu::of_thread().saturating_sub(cpu_before).as_micros() as u64);
        Ok(report)
    }
}

struct Statements<'c> {
    select: CachedStatement<'c>,
    update: Option<CachedStatement<'c>>,
    scan: Option<CachedStatement<'c>>,
}

impl<'c> Statements<'c> {
    fn prepare(connection: &'c Connection, schema: u32, workload: &Workload) -> rusqlite::Result<Self> {
        let prepared = |wanted: bool, sql: String| wanted.then(|| connection.prepare_cached(&sql)).transpose();
        Ok(Self {
            select: connection.prepare_cached(&statement::select(schema))?,
            update: prepared(!workload.update_pct.is_none(), statement::update(schema, workload.redo))?,
            scan: prepared(!workload.scan_pct.is_none(), statement::scan(schema))?,
        })
    }
}

struct Worker<'c> {
    connection: &'c Connection,
    schemas: BTreeMap<u32, Statements<'c>>,
    begin: CachedStatement<'c>,
    commit: CachedStatement<'c>,
    file: &'c DatabaseFile,
    workload: &'c Workload,
    session: u32,
    filler: &'c mut Filler,
    interrupts: &'c AtomicU64,
    interrupts_seen: u64,
    policy: CommitPolicy,
    commits: u64,
    in_commit: Duration,
}

impl<'c> Worker<'c> {
    fn carry_out(&mut self, op: &Op) -> rusqlite::Result<u64> {
        match op.kind {
            OpKind::Update => self.update(op),
            OpKind::Select => {
                let range = (op.first_key as i64, op.last_key() as i64);
                self.statements(op)?.select.query_row(range, |row| row.get(0)).map(i64::unsigned_abs)
            }
            OpKind::Scan => match &mut self.statements(op)?.scan {
                Some(scan) => scan.query_row([], |row| row.get(0)).map(i64::unsigned_abs),
                None => Err(rusqlite::Error::InvalidQuery),
            },
        }
    }

    fn statements(&mut self, op: &Op) -> rusqlite::Result<&mut Statements<'c>> {
        self.schemas.get_mut(&op.schema).ok_or(rusqlite::Error::InvalidQuery)
    }

    fn update(&mut self, op: &Op) -> rusqlite::Result<u64> {
        if self.connection.is_autocommit() {
            self.begin.execute([])?;
        }
        let version = mix64(op.index ^ u64::from(self.session) << 40);
        let keys = op.first_key..=op.last_key();
        let statements = self.schemas.get_mut(&op.schema).ok_or(rusqlite::Error::InvalidQuery)?;
        let update = statements.update.as_mut().ok_or(rusqlite::Error::InvalidQuery)?;
        let mut blocks = 0;
        match self.workload.redo {
            Redo::Light => {
                let [c1, c2] = narrow(self.workload.seed, op.first_key, version);
                blocks += update.execute((*keys.start() as i64, *keys.end() as i64, c1, c2))?;
            }
            Redo::Heavy => {
                for key in keys {
                    let [c1, c2] = narrow(self.workload.seed, key, version);
                    blocks += update.execute((key as i64, c1, c2, self.filler.row(key, version)))?;
                }
            }
        }
        if self.policy.count_update() {
            self.commit()?;
        }
        Ok(blocks as u64)
    }

    fn commit(&mut self) -> rusqlite::Result<()> {
        if !self.policy.end() {
            return Ok(());
        }
        let began = Instant::now();
        self.commit.execute([])?;
        self.in_commit += began.elapsed();
        self.commits += 1;
        Ok(())
    }

    fn interrupted(&self) -> bool {
        self.interrupts.load(Ordering::Relaxed) != self.interrupts_seen
    }

    fn failed(&self, error: &rusqlite::Error) -> Error {
        if self.interrupted() {
            return Error::interrupted(format!("{} was interrupted", session_name(self.session)));
        }
        explain(self.file.path(), error).at(session_name(self.session))
    }
}

impl Operator for Worker<'_> {
    fn run_op(&mut self, op: &Op) -> Result<u64> {
        if self.interrupted() {
            return Err(Error::interrupted(format!("{} was interrupted", session_name(self.session))));
        }
        let blocks = self.carry_out(op).map_err(|error| self.failed(&error))?;
        if op.kind != OpKind::Scan && blocks != op.blocks {
            let what = format!("keys {} to {} gave {blocks} rows", op.first_key, op.last_key());
            let error = Error::run(what, "the dataset has holes: `mindful cleanup`, then load again");
            return Err(error.at(session_name(self.session)));
        }
        Ok(blocks)
    }

    fn end_slice(&mut self) -> Result<()> {
        self.commit().map_err(|error| self.failed(&error))
    }
}
