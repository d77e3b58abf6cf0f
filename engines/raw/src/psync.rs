//! A session that reads as a database session does: pread, one block at a time.

use std::sync::Arc;
use std::time::Instant;

use mindful_core::contract::slice::{Placement, SliceOrder, SliceReport};
use mindful_core::workload::client_loop::{ClientLoop, Operator};
use mindful_core::workload::{Op, OpKind, Workload};
use mindful_core::{Error, Result, Session};
use mindful_host::cpu;
use rustix::io::retry_on_intr;

use crate::access_pattern::AccessPattern;
use crate::block_touch::Toucher;
use crate::buffer::Buffer;
use crate::counters::Work;
use crate::prepared::Prepared;
use crate::space::Place;

pub(crate) struct PsyncSession {
    client_loop: ClientLoop,
    blocks: Blocks,
}

struct Blocks {
    prepared: Arc<Prepared>,
    pattern: AccessPattern,
    session: u32,
    buffer: Buffer,
    toucher: Toucher,
    work: Work,
    /// Writes since the last sync.
    unsynced: u32,
}

impl PsyncSession {
    pub(crate) fn new(prepared: Arc<Prepared>, workload: &Workload, placement: Placement) -> Result<Self> {
        let options = &prepared.options;
        let buffer = Buffer::new(options.block_size as usize)
            .map_err(|e| Error::target(format!("no memory for a block: {e}"), "pass a smaller --block-size"))?;
        let pattern = prepared.pattern(workload, placement);
        let toucher = Toucher::new(options.look, options.block_size);
        let (session, work) = (placement.session, Work::default());
        let blocks = Blocks { pattern, session, buffer, toucher, work, unsynced: 0, prepared };
        Ok(Self { client_loop: ClientLoop::new(workload, placement), blocks })
    }
}

impl Blocks {
    fn read(&mut self, place: Place) -> Result<()> {
        let file = &self.prepared.files[place.file as usize];
        let began = Instant::now();
        let result = retry_on_intr(|| rustix::io::pread(file, self.buffer.bytes_mut(), place.offset));
        self.work.read_ns += began.elapsed().as_nanos() as u64;
        self.settle(place, false, result)?;
        self.work.reads += 1;
        self.work.read_bytes += self.buffer.len() as u64;
        self.toucher.touch(self.buffer.bytes());
        self.prepared.check_content(place, self.buffer.bytes())
    }

    fn write(&mut self, place: Place, index: u64) -> Result<()> {
        let place = self.prepared.place_write(place);
        self.prepared.fill(self.buffer.bytes_mut(), place, self.session, index);
        let file = &self.prepared.files[place.file as usize];
        let result = retry_on_intr(|| rustix::io::pwrite(file, self.buffer.bytes(), place.offset));
        self.settle(place, true, result)?;
        self.work.writes += 1;
        self.work.write_bytes += self.buffer.len() as u64;
        let fsync = self.prepared.options.fsync;
        if fsync == 0 {
            self.work.commits += u64::from(self.prepared.options.sync);
            return Ok(());
        }
        self.unsynced += 1;
        if self.unsynced == fsync { self.sync(place) } else { Ok(()) }
    }

    fn sync(&mut self, place: Place) -> Result<()> {
        let began = Instant::now();
        rustix::fs::fdatasync(&self.prepared.files[place.file as usize])
            .map_err(|errno| self.prepared.sync_error(place, errno))?;
        self.work.count_sync(began.elapsed().as_nanos() as u64, std::mem::take(&mut self.unsynced));
        Ok(())
    }

    fn settle(&self, place: Place, write: bool, result: rustix::io::Result<usize>) -> Result<()> {
        let bytes = self.buffer.len();
        match result {
            Ok(moved) if moved == bytes => Ok(()),
            result => {
                let result = result.map_or_else(|errno| -errno.raw_os_error(), |moved| moved as i32);
                Err(self.prepared.io_error(place, write, bytes as u64, result))
            }
        }
    }
}

impl Operator for Blocks {
    fn run_op(&mut self, op: &Op) -> Result<u64> {
        for nth in 0..op.blocks {
            let place = self.pattern.place(op, nth);
            match op.kind {
                OpKind::Update => self.write(place, op.index)?,
                OpKind::Select | OpKind::Scan => self.read(place)?,
            }
        }
        Ok(op.blocks)
    }

    fn end_slice(&mut self) -> Result<()> {
        self.work.rows += self.toucher.take_rows();
        self.prepared.counters.publish(&mut self.work);
        Ok(())
    }
}

impl Session for PsyncSession {
    fn run_slice(&mut self, order: &SliceOrder) -> Result<SliceReport> {
        let cpu_before = cpu::of_thread();
        let mut report = self.client_loop.run_slice(order, &mut self.blocks)?;
        report.cpu_us = Some(cpu::of_thread().saturating_sub(cpu_before).as_micros() as u64);
        Ok(report)
    }
}
