//! A session with its loop of reads in the server: one statement makes many reads, each timed there.
//!
//! The keys of a statement are drawn here and passed as JSON. The statement streams one row an operation, and ends at
//! the deadline, which is bound as a parameter. Each update commits separately and is a separate statement.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Instant;

use mindful_core::contract::slice::{Placement, SliceOrder, SliceReport};
use mindful_core::record::latency::Recorder;
use mindful_core::workload::draws::Draws;
use mindful_core::workload::{Op, OpKind, Workload};
use mindful_core::{Error, Result, Session, contract::clock};
use mindful_sql::work::{NEVER_US, Pause, WARM_UP_OPS};
use mysql_common::row::Row;
use mysql_common::value::Value;

use crate::connect::client::Statement;
use crate::connect::link::{Link, Open};
use crate::error::Failure;
use crate::names::Namespace;
use crate::work::commit::{Commits, Committed};
use crate::work::server_time;
use crate::work::statement::{self, Reach};

/// Intended duration of a statement of many reads, us.
const BATCH_US: u64 = 4_000;
/// Reads of the first statement, and most of any.
const FIRST_BATCH: usize = 16;
const MOST_IN_BATCH: usize = 1_024;

/// Number of readings of the server's clock; the best one is used.
const CLOCK_LOOKS: usize = 5;

struct Prepared {
    now: Statement,
    batch: Statement,
    updates: BTreeMap<u32, Statement>,
    scans: BTreeMap<u32, Statement>,
}

pub(crate) struct ServerLoop {
    link: Arc<Link>,
    conn: Open,
    place: String,
    draws: Draws,
    schemas: BTreeSet<u32>,
    reach: Reach,
    prepared: Prepared,
    commits: Commits,
    /// The server's clock less this host's, us.
    ahead_us: i64,
    pause: Option<Pause>,
    /// When the operation before this one ended, us since the epoch by the server's clock.
    ended_us: i64,
    batch: usize,
    service: [Recorder; 3],
}

impl ServerLoop {
    pub(crate) fn open(
        link: &Arc<Link>,
        workload: &Workload,
        placement: Placement,
        namespace: &Namespace,
        reach: Reach,
        committed: &Arc<Committed>,
    ) -> Result<Self> {
        let (mut conn, place) = link.connect_session(placement)?;
        let draws = Draws::new(workload, placement.session, placement.schema);
        let schemas = draws.schemas();
        let prepared = link.run_on(&mut conn, &place, |conn| {
            let mut updates = BTreeMap::new();
            let mut scans = BTreeMap::new();
            for schema in &schemas {
                if !workload.update_pct.is_none() {
                    updates.insert(*schema, conn.prep(statement::update(workload, namespace, *schema))?);
                }
                if !workload.scan_pct.is_none() {
                    scans.insert(*schema, conn.prep(statement::scan(workload, namespace, *schema))?);
                }
            }
            let batch = conn.prep(statement::batch(workload, namespace, &schemas, reach))?;
            Ok(Prepared { now: conn.prep("SELECT SYSDATE(6)")?, batch, updates, scans })
        })?;
        let commits = Commits::new(workload.commit, committed);
        let mut session = Self {
            link: Arc::clone(link),
            conn,
            place,
            draws,
            schemas,
            reach,
            prepared,
            commits,
            ahead_us: 0,
            pause: None,
            ended_us: 0,
            batch: FIRST_BATCH,
            service: Default::default(),
        };
        session.set_clock()?;
        session.warm_up()?;
        link.wait_for_answers(&mut session.conn, &session.place)?;
        Ok(session)
    }

    /// Plans the reads by some of them, which count nowhere.
    fn warm_up(&mut self) -> Result<()> {
        let ops = WARM_UP_OPS.map(|index| self.draws.op(index));
        let reads: Vec<Op> = ops.filter(|op| op.kind == OpKind::Select).collect();
        if !reads.is_empty() {
            self.reads(&reads, NEVER_US, &mut SliceReport::default())?;
            self.service = Default::default();
            self.pause = None;
        }
        Ok(())
    }

    /// Compares the server's clock with this host's, by the quickest query.
    fn set_clock(&mut self) -> Result<()> {
        let mut best: Option<(i64, i64)> = None;
        for _ in 0..CLOCK_LOOKS {
            let before = clock::now_us();
            let server = self.ask_time()?;
            let took = clock::now_us() - before;
            if best.is_none_or(|(least, _)| took < least) {
                best = Some((took, server - before - took / 2));
            }
        }
        self.ahead_us = best.map_or(0, |(_, ahead)| ahead);
        Ok(())
    }

    fn ask_time(&mut self) -> Result<i64> {
        let statement = &self.prepared.now;
        self.link.run_on(&mut self.conn, &self.place, |conn| {
            let answer = conn.execute(statement, &[])?;
            let now = answer.rows.first().and_then(|row| row.as_ref(0)).and_then(server_time::us);
            now.ok_or_else(|| misread("its time").into())
        })
    }

    /// The present by the server's clock, estimated from this host's.
    fn now_us(&self) -> i64 {
        clock::now_us() + self.ahead_us
    }

    /// Waits for the server's clock; returns its value.
    fn wait_for(&mut self, begin_us: i64) -> Result<i64> {
        loop {
            let abort = self.link.abort_state();
            clock::sleep_unless(begin_us - self.ahead_us, || abort.is_interrupted());
            abort.refuse_interrupted(&self.place)?;
            let before = clock::now_us();
            let now_us = self.ask_time()?;
            if now_us >= begin_us {
                return Ok(now_us);
            }
            // The server's clock is behind the estimate.
            self.ahead_us = now_us - i64::midpoint(before, clock::now_us());
        }
    }

    /// Thinks until the pause or the slice is over; returns whether time is left. A pause longer than the slice is
    /// counted up to the boundary and continues in the next slice.
    fn end_thinking(&mut self, end_us: i64, report: &mut SliceReport) -> bool {
        let Some(pause) = self.pause else { return true };
        let abort = self.link.abort_state();
        clock::sleep_unless(pause.until_us.min(end_us) - self.ahead_us, || abort.is_interrupted());
        let now_us = self.now_us();
        report.think_us += (now_us.min(end_us) - pause.since_us).max(0).unsigned_abs();
        self.ended_us = now_us;
        let over = now_us.max(pause.until_us) < end_us;
        self.pause = (!over).then(|| Pause { since_us: pause.since_us.max(end_us), ..pause });
        over
    }

    /// The operations of the next statement: reads in a row up to the next pause, or one operation of another kind.
    fn gather(&self, first: u64, last: Option<u64>) -> Vec<Op> {
        let mut ops: Vec<Op> = Vec::new();
        for index in (first..).take(self.batch).take_while(|index| last.is_none_or(|last| *index < last)) {
            let op = self.draws.op(index);
            if op.kind != OpKind::Select && !ops.is_empty() {
                break;
            }
            ops.push(op);
            if op.kind != OpKind::Select || !op.think.is_zero() {
                break;
            }
        }
        ops
    }

    /// Makes reads in one statement, none begun after `end_us`; returns their number.
    fn reads(&mut self, ops: &[Op], end_us: i64, report: &mut SliceReport) -> Result<usize> {
        let began = Instant::now();
        let order = [statement::keys(ops, &self.schemas, self.reach).into(), server_time::datetime(end_us)];
        let statement = &self.prepared.batch;
        let made = self.link.run_on(&mut self.conn, &self.place, |conn| {
            conn.execute(statement, &order)?.rows.iter().map(timed).collect::<Result<Vec<_>, _>>()
        })?;
        let mut before = made.first().map_or(0, |(begin_us, ..)| *begin_us);
        for (op, (_, blocks, end_us)) in ops.iter().zip(&made) {
            // Each ends at the begin of the next: the server's work in between is part of the next.
            let us = (end_us - before).max(0).unsigned_abs();
            self.count(op, *blocks, before, us * 1_000, report);
            before = *end_us;
        }
        self.batch = next_batch(self.batch, made.len(), began.elapsed().as_micros() as u64);
        Ok(made.len())
    }

    fn single(&mut self, op: &Op, report: &mut SliceReport) -> Result<()> {
        if op.kind == OpKind::Scan {
            let statement = of_schema(&self.prepared.scans, op)?;
            let (begin_us, blocks, end_us) = self.link.run_on(&mut self.conn, &self.place, |conn| {
                let answer = conn.execute(statement, &[])?;
                timed(answer.rows.first().ok_or_else(|| misread("a scan"))?)
            })?;
            self.count(op, blocks, begin_us, (end_us - begin_us).max(0).unsigned_abs() * 1_000, report);
            return Ok(());
        }
        let begin_us = self.now_us();
        let began = Instant::now();
        let statement = of_schema(&self.prepared.updates, op)?;
        let commits = &mut self.commits;
        let blocks = self.link.run_on(&mut self.conn, &self.place, |conn| {
            commits.before(conn)?;
            let changed = conn.execute(statement, &[op.first_key.into(), op.last_key().into()])?.changed;
            commits.after(conn)?;
            Ok(changed)
        })?;
        self.count(op, blocks, begin_us, began.elapsed().as_nanos() as u64, report);
        Ok(())
    }

    /// A stall of the server between two statements is not inside an operation; an operation that waits for it until
    /// `begin_us` is reported as long.
    fn note_gap(&self, kind: OpKind, begin_us: i64, report: &mut SliceReport) {
        report.note_long(kind, self.ended_us, (begin_us - self.ended_us).max(0).unsigned_abs());
    }

    fn count(&mut self, op: &Op, blocks: u64, begin_us: i64, ns: u64, report: &mut SliceReport) {
        self.service[op.kind as usize].record(ns);
        self.note_gap(op.kind, begin_us, report);
        self.ended_us = begin_us + (ns / 1_000) as i64;
        report.note_long(op.kind, begin_us, ns / 1_000);
        let done = report.op_mut(op.kind);
        done.ops += 1;
        done.blocks += blocks;
        report.tally.add(op.cell(), 1);
        if !op.think.is_zero() {
            let since_us = begin_us + (ns / 1_000) as i64;
            self.pause = Some(Pause { since_us, until_us: since_us + op.think.as_micros() as i64 });
        }
    }
}

impl Session for ServerLoop {
    fn run_slice(&mut self, order: &SliceOrder) -> Result<SliceReport> {
        // A session that pauses across the boundary is in time for it, however late this thread wakes.
        let begin_us = match self.pause {
            Some(pause) => pause.since_us,
            None => self.wait_for(order.begin_us)?,
        };
        let mut report = SliceReport { index: order.index, begin_us, ..SliceReport::default() };
        self.ended_us = begin_us;
        let last = order.max_ops.map(|ops| order.first_op + ops);
        let mut index = order.first_op;
        while last.is_none_or(|last| index < last) {
            if !self.end_thinking(order.end_us, &mut report) || self.now_us() >= order.end_us {
                break;
            }
            self.link.abort_state().refuse_interrupted(&self.place)?;
            let ops = self.gather(index, last);
            let made = match ops.first() {
                Some(op) if op.kind != OpKind::Select => self.single(op, &mut report).map(|()| 1)?,
                _ => self.reads(&ops, order.end_us, &mut report)?,
            };
            index += made as u64;
            if made < ops.len() {
                break;
            }
        }
        let commits = &mut self.commits;
        self.link.run_on(&mut self.conn, &self.place, |conn| commits.end_slice(conn))?;
        report.end_us = self.pause.map_or_else(|| self.now_us(), |pause| pause.since_us);
        if self.pause.is_none() {
            // A statement that came too late made none.
            self.note_gap(self.draws.op(index).kind, report.end_us, &mut report);
        }
        for kind in OpKind::ALL {
            report.op_mut(kind).latency = self.service[kind as usize].drain();
        }
        Ok(report)
    }
}

/// So many reads next that they take [`BATCH_US`], but not more than twice as many as before.
fn next_batch(before: usize, made: usize, us: u64) -> usize {
    let fits = (made as u64 * BATCH_US / us.max(1)) as usize;
    fits.clamp(1, (2 * before).min(MOST_IN_BATCH))
}

fn timed(row: &Row) -> Result<(i64, u64, i64), Failure> {
    let time = |at: usize| row.as_ref(at).and_then(server_time::us);
    let blocks = row.as_ref(1).and_then(|value| match value {
        Value::Int(count) => u64::try_from(*count).ok(),
        Value::UInt(count) => Some(*count),
        _ => None,
    });
    match (time(0), blocks, time(2)) {
        (Some(begin_us), Some(blocks), Some(end_us)) => Ok((begin_us, blocks, end_us)),
        _ => Err(misread("a read").into()),
    }
}

fn of_schema<'a>(statements: &'a BTreeMap<u32, Statement>, op: &Op) -> Result<&'a Statement> {
    let found = statements.get(&op.schema);
    found.ok_or_else(|| Error::run(format!("nothing is prepared for schema {}", op.schema), "report this"))
}

fn misread(what: &str) -> Error {
    Error::run(format!("the server's answer about {what} cannot be read"), "report this with the server's version")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_grows_to_its_time_and_not_at_once() {
        assert_eq!(next_batch(16, 16, 100), 32);
        assert_eq!(next_batch(512, 512, 2_560), 800);
        assert_eq!(next_batch(1_024, 1_024, 1_000), MOST_IN_BATCH);
        assert_eq!(next_batch(64, 64, 10_000_000), 1);
        assert_eq!(next_batch(64, 0, 10), 1);
    }
}
