//! A session of the null engine: waits instead of working.

use std::sync::{Arc, PoisonError};
use std::time::Duration;

use mindful_core::contract::clock::Time;
use mindful_core::contract::session::Session;
use mindful_core::contract::slice::{Placement, SliceOrder, SliceReport, session_name};
use mindful_core::workload::client_loop::{ClientLoop, Operator};
use mindful_core::workload::{Commit, Op, OpKind, Redo, Workload};
use mindful_core::{Error, Result};

use crate::counters::BLOCK_BYTES;
use crate::fault;
use crate::server::{Server, Totals};
use crate::service::{ServiceTime, Wait};
use crate::session_time::SessionTime;

/// Log of a light update, bytes a block.
const LIGHT_LOG_BYTES: u64 = 256;

pub(crate) struct NullSession {
    client: ClientLoop<SessionTime>,
    worker: Worker,
}

struct Worker {
    server: Arc<Server>,
    session: u32,
    time: SessionTime,
    service: ServiceTime,
    wait: Wait,
    dies_at_us: Option<i64>,
    started_us: Option<i64>,
    scan_blocks: u64,
    log_bytes_a_block: u64,
    /// Updates in a transaction.
    commit_after: u32,
    uncommitted: u32,
    done: Totals,
    interrupts_seen: u64,
}

impl NullSession {
    pub(crate) fn connect(server: &Arc<Server>, workload: &Workload, placement: Placement) -> Result<Self> {
        let options = &server.options;
        options.failures.iter().try_for_each(|failure| failure.connect(placement.session))?;
        let time = SessionTime::new(server.clock.host());
        let worker = Worker {
            session: placement.session,
            time: time.clone(),
            service: ServiceTime::new(options, workload, placement),
            wait: Wait::default(),
            dies_at_us: options.failures.iter().find_map(|failure| failure.dies_at_us(placement.session)),
            started_us: None,
            scan_blocks: server.loaded()?.scan_blocks,
            log_bytes_a_block: if workload.redo == Redo::Heavy { BLOCK_BYTES } else { LIGHT_LOG_BYTES },
            commit_after: match workload.commit {
                Commit::Each => 1,
                Commit::Every(operations) => operations,
                Commit::Slice => u32::MAX,
            },
            uncommitted: 0,
            done: Totals::default(),
            interrupts_seen: server.interrupts.count(),
            server: Arc::clone(server),
        };
        Ok(Self { client: ClientLoop::with_time(time, workload, placement), worker })
    }
}

impl Session for NullSession {
    fn run_slice(&mut self, order: &SliceOrder) -> Result<SliceReport> {
        let server = Arc::clone(&self.worker.server);
        let clock = &server.clock;
        clock.begin(clock.host_us(order.begin_us));
        let local =
            SliceOrder { begin_us: clock.host_us(order.begin_us), end_us: clock.host_us(order.end_us), ..*order };
        let _wakeful = server.interrupts.wake_me();
        self.worker.interrupts_seen = server.interrupts.count();
        if self.worker.started_us.is_none() {
            self.worker.started_us = Some(local.begin_us);
            let time = &self.worker.time;
            let taken_us = server.takes_order_us(time.now_us());
            time.sleep_unless(local.begin_us.max(taken_us), &|| self.worker.interrupted());
        }
        let mut report = self.client.run_slice(&local, &mut self.worker)?;
        report.begin_us += clock.ahead_us(report.begin_us);
        report.end_us += clock.ahead_us(report.end_us);
        for op in &mut report.long {
            op.begin_us += clock.ahead_us(op.begin_us);
        }
        Ok(report)
    }

    fn rehearse(&mut self) -> Result<()> {
        let (server, time) = (&self.worker.server, &self.worker.time);
        let (_wakeful, seen) = (server.interrupts.wake_me(), server.interrupts.count());
        time.sleep_unless(server.takes_order_us(time.now_us()), &|| server.interrupts.count() != seen);
        time.arrive();
        Ok(())
    }
}

impl Worker {
    fn since_start_us(&self) -> i64 {
        self.started_us.map_or(0, |started| self.time.now_us() - started)
    }

    /// Works for `time`; returns whether it worked to the end.
    fn wait(&mut self, time: Duration) -> bool {
        if self.time.simulated() {
            self.time.pass(time);
            return true;
        }
        let (interrupts, seen) = (&self.server.interrupts, self.interrupts_seen);
        self.wait.wait(time, || interrupts.count() != seen)
    }

    fn die_if_due(&self) -> Result<()> {
        match self.dies_at_us {
            Some(at) if self.since_start_us() >= at => Err(Error::run(
                format!("{}: the null engine ended it at {} s", session_name(self.session), at as f64 / 1e6),
                "omit null_fail to let it continue",
            )),
            _ => Ok(()),
        }
    }

    fn count(&mut self, op: &Op, blocks: u64, us: u64) {
        self.done.blocks += blocks;
        if op.kind != OpKind::Update {
            self.done.read_us += us;
            return;
        }
        self.done.updated += blocks;
        self.done.log_bytes += blocks * self.log_bytes_a_block;
        self.uncommitted += 1;
        if self.uncommitted >= self.commit_after {
            self.commit();
        }
    }

    fn commit(&mut self) {
        self.done.commits += 1;
        self.uncommitted = 0;
    }
}

impl Operator for Worker {
    fn interrupted(&self) -> bool {
        self.server.interrupts.count() != self.interrupts_seen
    }

    fn run_op(&mut self, op: &Op) -> Result<u64> {
        if let Some(visits) = &self.server.visits {
            visits.lock().unwrap_or_else(PoisonError::into_inner).entry(self.session).or_default().push(*op);
        }
        let begin_us = self.since_start_us();
        let mut us = self.service.us(op, begin_us);
        us += fault::stalled_us(&self.server.options.stalls, begin_us, begin_us + us as i64) as f64;
        if !self.wait(Duration::from_nanos((us * 1e3) as u64)) || self.interrupted() {
            return Err(Error::interrupted(format!("{} was interrupted", session_name(self.session))));
        }
        if self.dies_at_us.is_some() {
            self.die_if_due()?;
        }
        let blocks = if op.kind == OpKind::Scan { self.scan_blocks } else { op.blocks };
        self.count(op, blocks, us as u64);
        Ok(blocks)
    }

    fn end_slice(&mut self) -> Result<()> {
        self.time.arrive();
        if self.time.simulated() && self.interrupted() {
            return Err(Error::interrupted(format!("{} was interrupted", session_name(self.session))));
        }
        self.die_if_due()?;
        if self.uncommitted > 0 {
            self.commit();
        }
        let (done, mut all) = (std::mem::take(&mut self.done), self.server.totals());
        all.blocks += done.blocks;
        all.updated += done.updated;
        all.commits += done.commits;
        all.log_bytes += done.log_bytes;
        all.read_us += done.read_us;
        Ok(())
    }
}
