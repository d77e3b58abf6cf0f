//! A session over io_uring: keeps up to `iodepth` I/Os in flight and times each operation.
//!
//! An operation is over when all its blocks have completed, in any order. The session is one loop: issue permitted
//! I/Os, submit, wait for one completion, process all completions. A thread for completions was rejected: it costs a
//! switch for each I/O, and the session is to measure the device, not the scheduler.

use std::sync::Arc;
use std::time::Duration;

use mindful_core::contract::slice::{LONG_OP_US, Placement, SliceOrder, SliceReport};
use mindful_core::record::latency::Recorder;
use mindful_core::workload::schedule::Schedule;
use mindful_core::workload::{Op, OpKind, Rate, Workload};
use mindful_core::{Error, Result, Session, contract::clock};
use mindful_host::cpu;
use rustix::io::Errno;

use crate::access_pattern::{AccessPattern, LargePattern};
use crate::block_touch::Toucher;
use crate::counters::Work;
use crate::prepared::Prepared;
use crate::ring::{Done, Ring};
use crate::space::Place;
use crate::timer::Timer;

#[derive(Debug, Clone, Copy)]
struct Running {
    kind: OpKind,
    cell: u8,
    think_ns: u64,
    left: u64,
    blocks: u64,
    begun_ns: u64,
    /// When it was due (open loop), else when it began.
    due_ns: u64,
}

#[derive(Debug, Clone, Copy)]
struct Flight {
    running: u32,
    write: bool,
    place: Place,
    issued_ns: u64,
    /// Number of writes that the sync after this write makes durable; 0 for none.
    syncing: u32,
}

#[derive(Debug, Clone, Copy)]
struct Issuing {
    op: Op,
    running: u32,
    next: u64,
}

pub(crate) struct UringSession {
    ring: Ring,
    prepared: Arc<Prepared>,
    pattern: AccessPattern,
    large: Option<LargePattern>,
    large_begun: u64,
    placement: Placement,
    rate: Option<Rate>,
    schedule: Option<Schedule>,
    /// The session begins nothing before; a pause may outlast its slice.
    thinks_until_ns: u64,
    /// Where the slice before ended that handed its pause on, us since the epoch: the pause is reported up to there.
    handed_on_us: Option<i64>,
    /// End of the current slice. Instants are ns on the session's own clock.
    end_ns: u64,
    /// Difference of the wall clock in us, times 1000, and the session's clock.
    wall_offset_ns: i64,
    first_op: u64,
    max_ops: u64,
    completed_ns: u64,
    flights: Vec<Flight>,
    free_blocks: Vec<u32>,
    free_large: Vec<u32>,
    running: Vec<Running>,
    free_running: Vec<u32>,
    issuing: Option<Issuing>,
    begun: u64,
    done: Vec<Done>,
    toucher: Toucher,
    service: [Recorder; 3],
    response: [Recorder; 3],
    report: SliceReport,
    cells: [u64; 32],
    work: Work,
    /// Writes that no sync has begun to make durable.
    unsynced: u32,
    think_ns: u64,
    timer: Timer,
}

impl UringSession {
    /// A session in `placement`, on the calling thread.
    pub(crate) fn new(prepared: Arc<Prepared>, workload: &Workload, placement: Placement) -> Result<Self> {
        let options = &prepared.options;
        let depth = options.iodepth;
        let mut slots = vec![options.block_size; depth as usize];
        if let Some(large) = options.large {
            slots.resize(options.in_flight() as usize, large.size);
        }
        let ring = Ring::new(prepared.files.clone(), &slots, placement.sessions, !options.direct).map_err(|e| {
            Error::target(
                format!("cannot make a ring of {} I/Os: {e}", slots.len()),
                "pass a smaller --iodepth, or --io psync",
            )
        })?;
        if !ring.buffers_registered() {
            prepared.tell_unregistered();
        }
        let large = options
            .large
            .zip(prepared.large.clone())
            .map(|(large, space)| LargePattern::new(workload.seed, placement, space, large, options.streams));
        let count = slots.len() as u32;
        let idle = Flight { running: 0, write: false, place: Place { file: 0, offset: 0 }, issued_ns: 0, syncing: 0 };
        let free = Running { kind: OpKind::Select, cell: 0, think_ns: 0, left: 0, blocks: 0, begun_ns: 0, due_ns: 0 };
        // One more than there are I/Os: all blocks of an operation may be back while its last is not yet issued.
        let operations = count + 1;
        let pattern = prepared.pattern(workload, placement);
        Ok(Self {
            ring,
            pattern,
            large,
            large_begun: 0,
            placement,
            rate: workload.rate,
            schedule: None,
            thinks_until_ns: 0,
            handed_on_us: None,
            end_ns: 0,
            wall_offset_ns: 0,
            first_op: 0,
            max_ops: 0,
            completed_ns: 0,
            flights: vec![idle; count as usize],
            free_blocks: (0..depth).rev().collect(),
            free_large: (depth..count).rev().collect(),
            running: vec![free; operations as usize],
            free_running: (0..operations).rev().collect(),
            issuing: None,
            begun: 0,
            done: Vec::with_capacity(count as usize),
            toucher: Toucher::new(options.look, options.large.map_or(0, |l| l.size).max(options.block_size)),
            service: Default::default(),
            response: Default::default(),
            report: SliceReport::default(),
            cells: [0; 32],
            work: Work::default(),
            unsynced: 0,
            think_ns: 0,
            timer: Timer::start(),
            prepared,
        })
    }

    #[inline]
    fn now_ns(&self) -> u64 {
        self.timer.ns()
    }

    /// Counts the time from `from` to `now` as thinking if the session was. Each of the possible I/Os in flight counts
    /// for its part: those still in progress at the begin of a pause are not paused. A session that wakes late has
    /// thought longer; in an open loop the next operation need not be due.
    fn count_thinking(&mut self, from: u64, now: u64) {
        if self.thinks_until_ns <= from {
            return;
        }
        let to = if self.schedule.is_some() { now.min(self.thinks_until_ns) } else { now };
        let thought = to.min(self.end_ns).saturating_sub(from);
        self.think_ns += thought * self.free_blocks.len() as u64 / self.flights.len() as u64;
    }

    fn begin_slice(&mut self, order: &SliceOrder) {
        let (wall_us, now_ns) = (clock::now_us(), self.now_ns());
        let left_us = (order.end_us - wall_us).max(0).unsigned_abs();
        if let (Some(rate), None) = (self.rate, &self.schedule) {
            let stream =
                mindful_core::workload::draws::Streams::new(self.prepared.seed, self.placement.session).arrival;
            self.schedule =
                Some(Schedule::new(rate, self.placement.session, self.placement.sessions, stream, order.begin_us));
        }
        self.end_ns = now_ns + left_us * 1_000;
        self.wall_offset_ns = wall_us * 1_000 - now_ns as i64;
        // A pause lasts until the next operation can begin, however late the slice was ordered.
        let late_us =
            self.handed_on_us.map_or(0, |since_us| (wall_us.min(order.end_us) - since_us).max(0).unsigned_abs());
        self.think_ns = late_us * 1_000;
        (self.first_op, self.max_ops) = (order.first_op, order.max_ops.unwrap_or(u64::MAX));
        self.begun = 0;
    }

    /// The loop: issues permitted I/Os and waits for completions, until the slice is over and no I/O is in flight.
    fn work(&mut self) -> Result<()> {
        let mut now = self.now_ns();
        loop {
            let open = now < self.end_ns && !self.prepared.counters.is_interrupted();
            self.issue_blocks(&mut now, open);
            self.issue_large(now, open);
            let wake_ns = self.wake_ns(now, open);
            if self.ring.in_flight() == 0 {
                let Some(wake_ns) = wake_ns else { return Ok(()) };
                std::thread::sleep(Duration::from_nanos(wake_ns.saturating_sub(now)));
                let woke = self.now_ns();
                self.count_thinking(now, woke);
                now = woke;
                continue;
            }
            let timeout = wake_ns.map(|wake| Duration::from_nanos(wake.saturating_sub(now)));
            self.ring
                .submit_and_wait(timeout)
                .map_err(|e| Error::run(format!("io_uring failed: {e}"), "try --io psync"))?;
            now = self.finish_all(now)?;
            if !self.toucher.is_idle() {
                now = self.now_ns();
            }
        }
    }

    /// Finishes a batch of completions since `from`; returns the instant of finding them.
    fn finish_all(&mut self, from: u64) -> Result<u64> {
        let mut done = std::mem::take(&mut self.done);
        self.ring.reap(&mut done);
        let now = self.now_ns();
        self.count_thinking(from, now);
        let finished = done.iter().try_for_each(|one| self.finish(*one, now));
        self.done = done;
        finished.map(|()| now)
    }

    /// When the loop must check again without a completion: at the end of a pause, or at the next arrival (open loop).
    fn wake_ns(&self, now: u64, open: bool) -> Option<u64> {
        if !open || self.begun >= self.max_ops || self.free_blocks.is_empty() {
            return None;
        }
        let thinks = (self.thinks_until_ns > now).then_some(self.thinks_until_ns);
        let due = self.schedule.as_ref().map(|schedule| due_ns(schedule, self.wall_offset_ns));
        thinks.max(due).map(|wake| wake.min(self.end_ns))
    }

    #[inline]
    fn issue_blocks(&mut self, now: &mut u64, open: bool) {
        while let Some(slot) = self.free_blocks.last().copied() {
            let Some(mut issuing) = self.issuing.take().or_else(|| self.begin(*now, open)) else { return };
            self.free_blocks.pop();
            let mut place = self.pattern.place(&issuing.op, issuing.next);
            let write = issuing.op.kind == OpKind::Update;
            if write {
                place = self.prepared.place_write(place);
            }
            self.flights[slot as usize] =
                Flight { running: issuing.running, write, place, issued_ns: *now, syncing: 0 };
            if write {
                let (session, index) = (self.placement.session, issuing.op.index);
                self.prepared.fill(self.ring.block_mut(slot), place, session, index);
                *now = self.now_ns();
                self.ring.write(slot, place.file, place.offset);
            } else {
                self.ring.read(slot, place.file, place.offset);
            }
            issuing.next += 1;
            if issuing.next < issuing.op.blocks {
                self.issuing = Some(issuing);
            }
        }
    }

    #[inline]
    fn begin(&mut self, now: u64, open: bool) -> Option<Issuing> {
        if !open || self.begun >= self.max_ops || now < self.thinks_until_ns {
            return None;
        }
        let mut due = now;
        if let Some(schedule) = &mut self.schedule {
            due = due_ns(schedule, self.wall_offset_ns);
            if due > now {
                return None;
            }
            schedule.advance();
        }
        let op = self.pattern.op(self.first_op + self.begun);
        self.begun += 1;
        let running = self.free_running.pop()?;
        self.running[running as usize] = Running {
            kind: op.kind,
            cell: op.cell(),
            think_ns: op.think.as_nanos() as u64,
            left: op.blocks,
            blocks: op.blocks,
            begun_ns: now,
            due_ns: due,
        };
        Some(Issuing { op, running, next: 0 })
    }

    /// Issues large reads: each is a separate operation, counted as a scan.
    fn issue_large(&mut self, now: u64, open: bool) {
        let Some(pattern) = &self.large else { return };
        while open && self.begun < self.max_ops {
            let (Some(slot), Some(running)) = (self.free_large.pop(), self.free_running.pop()) else { return };
            let place = pattern.place(self.large_begun);
            self.large_begun += 1;
            self.begun += 1;
            let blocks = self.prepared.large_blocks;
            self.running[running as usize] =
                Running { kind: OpKind::Scan, cell: 2, think_ns: 0, left: 1, blocks, begun_ns: now, due_ns: now };
            self.flights[slot as usize] = Flight { running, write: false, place, issued_ns: now, syncing: 0 };
            self.ring.read(slot, place.file, place.offset);
        }
    }

    #[inline]
    fn finish(&mut self, done: Done, now: u64) -> Result<()> {
        let flight = self.flights[done.slot as usize];
        if flight.syncing > 0 {
            return self.finish_sync(done, flight, now);
        }
        let large = done.slot >= self.prepared.options.iodepth;
        let options = &self.prepared.options;
        let bytes = options.large.filter(|_| large).map_or(options.block_size, |large| large.size);
        if i64::from(done.result) != bytes as i64 {
            return Err(self.prepared.io_error(flight.place, flight.write, bytes, done.result));
        }
        if flight.write {
            self.work.writes += 1;
            self.work.write_bytes += bytes;
            if self.begin_sync(done.slot, now) {
                return Ok(());
            }
        } else {
            self.work.reads += 1;
            self.work.read_bytes += bytes;
            self.work.read_ns += now.saturating_sub(flight.issued_ns);
            if !self.toucher.is_idle() {
                self.toucher.touch(self.ring.block(done.slot));
            }
            self.prepared.check_content(flight.place, self.ring.block(done.slot))?;
        }
        if large {
            self.free_large.push(done.slot);
        } else {
            self.free_blocks.push(done.slot);
        }
        self.finish_block(flight.running, now);
        Ok(())
    }

    /// Has a sync follow the write in `slot` if one is due: the operation ends with it.
    fn begin_sync(&mut self, slot: u32, now: u64) -> bool {
        let fsync = self.prepared.options.fsync;
        if fsync == 0 {
            self.work.commits += u64::from(self.prepared.options.sync);
            return false;
        }
        self.unsynced += 1;
        if self.unsynced < fsync {
            return false;
        }
        let flight = &mut self.flights[slot as usize];
        (flight.syncing, flight.issued_ns) = (std::mem::take(&mut self.unsynced), now);
        self.ring.sync(slot, flight.place.file);
        true
    }

    fn finish_sync(&mut self, done: Done, flight: Flight, now: u64) -> Result<()> {
        if done.result != 0 {
            return Err(self.prepared.sync_error(flight.place, Errno::from_raw_os_error(-done.result)));
        }
        self.work.count_sync(now.saturating_sub(flight.issued_ns), flight.syncing);
        self.free_blocks.push(done.slot);
        self.finish_block(flight.running, now);
        Ok(())
    }

    #[inline]
    fn finish_block(&mut self, number: u32, now: u64) {
        let running = &mut self.running[number as usize];
        running.left -= 1;
        if running.left == 0 {
            self.complete(number, now);
        }
    }

    #[inline]
    fn complete(&mut self, number: u32, now: u64) {
        let op = self.running[number as usize];
        self.free_running.push(number);
        let kind = op.kind as usize;
        let service_ns = now.saturating_sub(op.begun_ns);
        self.service[kind].record(service_ns);
        if service_ns >= LONG_OP_US * 1_000 {
            let begin_us = (op.begun_ns as i64 + self.wall_offset_ns) / 1_000;
            self.report.note_long(op.kind, begin_us, service_ns / 1_000);
        }
        if self.schedule.is_some() {
            self.response[kind].record(now.saturating_sub(op.due_ns));
        }
        self.report.ops[kind].ops += 1;
        self.report.ops[kind].blocks += op.blocks;
        self.cells[usize::from(op.cell) % self.cells.len()] += 1;
        self.completed_ns = now;
        if op.think_ns > 0 {
            self.thinks_until_ns = self.thinks_until_ns.max(now + op.think_ns);
        }
    }

    /// Where the slice ends if its pause outlasts it: at the boundary, or where the last operation completed after it.
    fn hands_on_us(&self, order: &SliceOrder) -> Option<i64> {
        let outlasts = self.thinks_until_ns > self.end_ns && self.now_ns() >= self.end_ns;
        outlasts.then(|| order.end_us + (self.completed_ns.saturating_sub(self.end_ns) / 1_000) as i64)
    }

    fn close_report(&mut self, order: &SliceOrder) -> SliceReport {
        let mut report = std::mem::take(&mut self.report);
        self.handed_on_us = self.hands_on_us(order);
        report.end_us = self.handed_on_us.unwrap_or_else(clock::now_us);
        report.think_us = self.think_ns / 1_000;
        report.backlog = self.schedule.as_ref().map(|schedule| schedule.backlog(order.end_us));
        for (cell, count) in self.cells.iter_mut().enumerate().filter(|(_, count)| **count > 0) {
            report.tally.add(cell as u8, std::mem::take(count));
        }
        for kind in OpKind::ALL {
            let (service, response) = (self.service[kind as usize].drain(), self.response[kind as usize].drain());
            let op = report.op_mut(kind);
            op.latency = service;
            op.response = self.schedule.is_some().then_some(response);
        }
        report
    }
}

/// When the next operation is due on the session's clock, ns.
fn due_ns(schedule: &Schedule, wall_offset_ns: i64) -> u64 {
    (schedule.due_us() * 1_000 - wall_offset_ns).max(0).unsigned_abs()
}

impl Session for UringSession {
    fn run_slice(&mut self, order: &SliceOrder) -> Result<SliceReport> {
        clock::sleep_unless(order.begin_us, || false);
        let begin_us = self.handed_on_us.unwrap_or_else(clock::now_us);
        let cpu_before = cpu::of_thread();
        self.begin_slice(order);
        self.report = SliceReport { index: order.index, begin_us, ..SliceReport::default() };
        self.work()?;
        let mut report = self.close_report(order);
        self.work.rows += self.toucher.take_rows();
        self.prepared.counters.publish(&mut self.work);
        report.cpu_us = Some(cpu::of_thread().saturating_sub(cpu_before).as_micros() as u64);
        Ok(report)
    }
}
