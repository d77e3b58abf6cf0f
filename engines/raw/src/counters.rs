//! Counters of the sessions' work. Sessions publish when a slice ends.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use mindful_core::Result;
use mindful_core::contract::metric::{Counter, Metric, Phase, SampledSource, Sampler, Scope};
use mindful_core::record::latency::{Recorder, SampledLatencies, WAIT_HISTOGRAM, wait_kind};

#[derive(Debug, Default)]
pub(crate) struct Work {
    pub reads: u64,
    pub read_bytes: u64,
    /// Time they took, one after the other, ns.
    pub read_ns: u64,
    pub writes: u64,
    pub write_bytes: u64,
    pub rows: u64,
    /// Writes that are on storage.
    pub commits: u64,
    syncs: u64,
    sync_ns: u64,
    /// Syncs since they were last taken.
    sync_latencies: Recorder,
}

impl Work {
    pub(crate) fn count_sync(&mut self, ns: u64, writes: u32) {
        self.syncs += 1;
        self.sync_ns += ns;
        self.sync_latencies.record(ns);
        self.commits += u64::from(writes);
    }
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    all: Mutex<Work>,
    /// Set to end all slices early.
    pub interrupted: AtomicBool,
}

impl Counters {
    fn all(&self) -> MutexGuard<'_, Work> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds `work`, which begins again.
    pub(crate) fn publish(&self, work: &mut Work) {
        let (mut done, mut all) = (std::mem::take(work), self.all());
        all.reads += done.reads;
        all.read_bytes += done.read_bytes;
        all.read_ns += done.read_ns;
        all.writes += done.writes;
        all.write_bytes += done.write_bytes;
        all.rows += done.rows;
        all.commits += done.commits;
        all.syncs += done.syncs;
        all.sync_ns += done.sync_ns;
        all.sync_latencies.merge(&done.sync_latencies.drain());
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

/// Blocks read and written.
pub(crate) fn block_sampler(counters: Arc<Counters>, block_size: u64) -> Box<dyn Sampler> {
    let metrics = [
        Metric::counter(Counter::PhysicalReads, "blocks", "blocks read by the sessions: bytes by the block size"),
        Metric::counter(Counter::ReadRequests, "1", "reads completed by the sessions, of a block or large"),
        Metric::counter("read_bytes", "bytes", "bytes read by the sessions"),
        Metric::counter(Counter::ReadTimeUs, "us", "time of the reads, from submission to completion, summed"),
        Metric::counter(Counter::PhysicalWrites, "blocks", "blocks written by the sessions, one at a time"),
        Metric::counter("write_bytes", "bytes", "bytes written by the sessions"),
        Metric::counter("rows_parsed", "1", "rows walked in the blocks read (look parse)"),
    ];
    SampledSource::new("raw", metrics).with(Scope::Host, Phase::Settled).read_by(move || {
        let all = counters.all();
        let read_blocks = all.read_bytes as f64 / block_size as f64;
        let [reads, read_bytes, writes, write_bytes, rows] =
            [all.reads, all.read_bytes, all.writes, all.write_bytes, all.rows].map(|count| count as f64);
        let values = [read_blocks, reads, read_bytes, all.read_ns as f64 / 1e3, writes, write_bytes, rows];
        Ok(values.map(Some).into())
    })
}

/// Writes made durable, under the name of the source of waits that are all timed.
pub(crate) struct SyncSampler {
    counters: Arc<Counters>,
    source: SampledSource,
}

impl SyncSampler {
    pub(crate) fn new(counters: Arc<Counters>) -> Self {
        let metrics = [
            Metric::counter(Counter::Commits, "1", "writes made durable, by a sync, or each by O_DSYNC"),
            Metric::counter(Counter::LogSyncs, "1", "syncs (fdatasync) of the sessions"),
            Metric::counter(Counter::LogSyncTimeUs, "us", "time of the syncs, summed"),
        ];
        let source = SampledSource::new(WAIT_HISTOGRAM, metrics).with(Scope::Host, Phase::Settled);
        Self { counters, source }
    }
}

impl Sampler for SyncSampler {
    fn source(&self) -> &SampledSource {
        &self.source
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        let all = self.counters.all();
        Ok(vec![Some(all.commits as f64), Some(all.syncs as f64), Some(all.sync_ns as f64 / 1e3)])
    }

    fn latencies(&mut self) -> Option<SampledLatencies> {
        let syncs = self.counters.all().sync_latencies.drain();
        let timed = (syncs.count() > 0).then(|| (wait_kind::LOG_SYNC.to_owned(), syncs));
        Some(SampledLatencies { one_of: 1, kinds: timed.into_iter().collect() })
    }
}
