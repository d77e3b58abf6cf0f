//! The work loop for engines without their own: one operation after the other, each timed, until the slice ends.

use std::time::Duration;

use crate::contract::clock::{HostClock, Time};
use crate::contract::error::Result;
use crate::contract::slice::{LONG_OP_US, Placement, SliceOrder, SliceReport};
use crate::record::latency::Recorder;
use crate::workload::draws::Draws;
use crate::workload::schedule::Schedule;
use crate::workload::{Op, OpKind, Rate, Workload};

pub trait Operator {
    /// Carries out `op` and returns the number of blocks that it visited.
    fn run_op(&mut self, op: &Op) -> Result<u64>;

    /// Whether an interrupt was requested, which ends all waits.
    fn interrupted(&self) -> bool {
        false
    }

    /// Ends the slice: publishes pending work, such as an open transaction or counters.
    fn end_slice(&mut self) -> Result<()> {
        Ok(())
    }
}

#[derive(Debug)]
pub struct ClientLoop<T = HostClock> {
    time: T,
    pub draws: Draws,
    placement: Placement,
    rate: Option<Rate>,
    schedule: Option<Schedule>,
    pause: Option<Pause>,
    /// The instant, by [`Time::elapsed`], from which the next operation may begin.
    free_since: Option<Duration>,
    service: [Recorder; 3],
    response: [Recorder; 3],
}

/// A pause under way, us since the epoch. It lasts until the next operation can begin, and may outlast its slice.
#[derive(Debug, Clone, Copy)]
struct Pause {
    since_us: i64,
    until_us: i64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Turn {
    /// An operation, now: closed loop.
    AtOnce,
    /// An operation that was due at this instant, us since the epoch: open loop.
    Due(i64),
    Over,
}

impl ClientLoop {
    pub fn new(workload: &Workload, placement: Placement) -> Self {
        Self::with_time(HostClock, workload, placement)
    }
}

impl<T: Time> ClientLoop<T> {
    /// The same by another time than this host's.
    pub fn with_time(time: T, workload: &Workload, placement: Placement) -> Self {
        Self {
            time,
            draws: Draws::new(workload, placement.session, placement.schema),
            placement,
            rate: workload.rate,
            schedule: None,
            pause: None,
            free_since: None,
            service: Default::default(),
            response: Default::default(),
        }
    }

    pub fn run_slice(&mut self, order: &SliceOrder, operator: &mut dyn Operator) -> Result<SliceReport> {
        self.time.sleep_unless(order.begin_us, &|| operator.interrupted());
        // A session that pauses across the boundary is in time for it, however late this thread wakes.
        let begin_us = self.pause.map_or_else(|| self.time.now_us(), |pause| pause.since_us);
        let mut report = SliceReport { index: order.index, begin_us, ..SliceReport::default() };
        self.free_since = self.pause.is_none().then(|| self.time.elapsed());
        if let (Some(rate), None) = (self.rate, &self.schedule) {
            let stream = self.draws.streams.arrival;
            self.schedule =
                Some(Schedule::new(rate, self.placement.session, self.placement.sessions, stream, order.begin_us));
        }
        let last = order.max_ops.map(|ops| order.first_op + ops);
        let mut index = order.first_op;
        while last.is_none_or(|last| index < last) {
            if !self.end_thinking(order.end_us, &mut report) {
                break;
            }
            let turn = self.await_turn(order.end_us);
            if turn == Turn::Over {
                break;
            }
            self.one(index, turn, operator, &mut report)?;
            index += 1;
        }
        operator.end_slice()?;
        report.end_us = self.pause.map_or_else(|| self.time.now_us(), |pause| pause.since_us);
        report.backlog = self.schedule.as_ref().map(|s| s.backlog(order.end_us));
        for kind in OpKind::ALL {
            let (service, response) = (self.service[kind as usize].drain(), self.response[kind as usize].drain());
            let op = report.op_mut(kind);
            op.latency = service;
            op.response = self.schedule.is_some().then_some(response);
        }
        Ok(report)
    }

    /// Thinks until the pause or the slice is over; returns whether time is left. A pause longer than the slice is
    /// counted up to the boundary and continues in the next slice.
    fn end_thinking(&mut self, end_us: i64, report: &mut SliceReport) -> bool {
        let Some(pause) = &mut self.pause else { return true };
        self.time.sleep_unless(pause.until_us.min(end_us), &|| false);
        let now_us = self.time.now_us();
        report.think_us += (now_us.min(end_us) - pause.since_us).max(0).unsigned_abs();
        let over = now_us.max(pause.until_us) < end_us;
        if over {
            self.pause = None;
            self.free_since = Some(self.time.elapsed());
        } else {
            pause.since_us = pause.since_us.max(end_us);
        }
        over
    }

    /// Waits for the next arrival (open loop), or for the end of the slice.
    fn await_turn(&mut self, end_us: i64) -> Turn {
        if let Some(schedule) = &mut self.schedule {
            let due = schedule.due_us();
            if due >= end_us || self.time.now_us() >= end_us {
                self.time.sleep_unless(end_us, &|| false);
                return Turn::Over;
            }
            self.time.sleep_unless(due, &|| false);
            self.free_since = None;
            schedule.advance();
            return Turn::Due(due);
        }
        if self.time.now_us() < end_us { Turn::AtOnce } else { Turn::Over }
    }

    /// Reports a time that ends now separately if it is long.
    fn note_long(&self, kind: OpKind, took: Duration, report: &mut SliceReport) {
        let us = took.as_micros() as u64;
        if us >= LONG_OP_US {
            report.note_long(kind, self.time.now_us() - us as i64, us);
        }
    }

    fn one(&mut self, index: u64, turn: Turn, operator: &mut dyn Operator, report: &mut SliceReport) -> Result<()> {
        let op = self.draws.op(index);
        let began = self.time.elapsed();
        // A stop between two operations counts as one inside an operation does.
        let outside = self.free_since.map_or(Duration::ZERO, |free| began.saturating_sub(free));
        self.note_long(op.kind, outside, report);
        let blocks = operator.run_op(&op)?;
        let ended = self.time.elapsed();
        let service = ended.saturating_sub(began);
        self.note_long(op.kind, service, report);
        self.free_since = op.think.is_zero().then_some(ended);
        let service_ns = service.as_nanos() as u64;
        self.service[op.kind as usize].record(service_ns);
        if let Turn::Due(due) = turn {
            let response_ns = (self.time.now_us() - due).max(0).unsigned_abs() * 1_000;
            self.response[op.kind as usize].record(response_ns.max(service_ns));
        }
        let done = report.op_mut(op.kind);
        done.ops += 1;
        done.blocks += blocks;
        report.tally.add(op.cell(), 1);
        if !op.think.is_zero() {
            let since_us = self.time.now_us();
            self.pause = Some(Pause { since_us, until_us: since_us + op.think.as_micros() as i64 });
        }
        Ok(())
    }
}
