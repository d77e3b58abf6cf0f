//! What the sessions did, as counters. Sessions publish when a slice ends.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use mindful_core::Result;
use mindful_core::contract::metric::{Counter, Metric, Phase, SampledSource, Sampler, Scope};
use mindful_core::record::latency::{Recorder, SampledLatencies, WAIT_HISTOGRAM, wait_kind};

#[derive(Debug, Clone, Copy, Default)]
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
}

#[derive(Debug, Default)]
pub(crate) struct Counters {
    reads: AtomicU64,
    read_bytes: AtomicU64,
    read_ns: AtomicU64,
    writes: AtomicU64,
    write_bytes: AtomicU64,
    rows: AtomicU64,
    commits: AtomicU64,
    syncs: AtomicU64,
    sync_ns: AtomicU64,
    /// Syncs since they were last taken.
    sync_latencies: Mutex<Recorder>,
    /// Set to end all slices early.
    pub interrupted: AtomicBool,
}

impl Counters {
    /// Adds `work`, which begins again.
    pub(crate) fn publish(&self, work: &mut Work) {
        let done = std::mem::take(work);
        for (counter, amount) in [
            (&self.reads, done.reads),
            (&self.read_bytes, done.read_bytes),
            (&self.read_ns, done.read_ns),
            (&self.writes, done.writes),
            (&self.write_bytes, done.write_bytes),
            (&self.rows, done.rows),
            (&self.commits, done.commits),
        ] {
            counter.fetch_add(amount, Ordering::Relaxed);
        }
    }

    /// Adds the syncs of `session`, which begins again.
    pub(crate) fn publish_syncs(&self, session: &mut Recorder) {
        if session.count() == 0 {
            return;
        }
        let latency = session.drain();
        self.syncs.fetch_add(latency.count(), Ordering::Relaxed);
        self.sync_ns.fetch_add(latency.sum_ns, Ordering::Relaxed);
        self.sync_latencies.lock().unwrap_or_else(PoisonError::into_inner).merge(&latency);
    }

    pub(crate) fn is_interrupted(&self) -> bool {
        self.interrupted.load(Ordering::Relaxed)
    }
}

#[derive(Debug)]
pub(crate) struct CounterSampler {
    counters: Arc<Counters>,
    block_size: u64,
    source: SampledSource,
}

impl CounterSampler {
    pub(crate) fn new(counters: Arc<Counters>, block_size: u64) -> Self {
        let metrics = vec![
            Metric::counter(Counter::PhysicalReads, "blocks", "blocks read by the sessions: bytes by the block size"),
            Metric::counter(Counter::ReadRequests, "1", "reads completed by the sessions, of a block or large"),
            Metric::counter("read_bytes", "bytes", "bytes read by the sessions"),
            Metric::counter(Counter::ReadTimeUs, "us", "time of the reads, from submission to completion, summed"),
            Metric::counter(Counter::PhysicalWrites, "blocks", "blocks written by the sessions, one at a time"),
            Metric::counter("write_bytes", "bytes", "bytes written by the sessions"),
            Metric::counter("rows_parsed", "1", "rows walked in the blocks read (look parse)"),
        ];
        let source = SampledSource::new("raw", metrics).with(Scope::Host, Phase::Settled);
        Self { counters, block_size, source }
    }
}

impl Sampler for CounterSampler {
    fn source(&self) -> &SampledSource {
        &self.source
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        let c = &self.counters;
        let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
        Ok([
            value(&c.read_bytes) / self.block_size as f64,
            value(&c.reads),
            value(&c.read_bytes),
            value(&c.read_ns) / 1e3,
            value(&c.writes),
            value(&c.write_bytes),
            value(&c.rows),
        ]
        .map(Some)
        .to_vec())
    }
}

/// Reads what is known of writes made durable.
#[derive(Debug)]
pub(crate) struct SyncSampler {
    counters: Arc<Counters>,
    source: SampledSource,
}

impl SyncSampler {
    pub(crate) fn new(counters: Arc<Counters>) -> Self {
        let metrics = vec![
            Metric::counter(Counter::Commits, "1", "writes made durable, by a sync, or each by O_DSYNC"),
            Metric::counter(Counter::LogSyncs, "1", "syncs (fdatasync) of the sessions"),
            Metric::counter(Counter::LogSyncTimeUs, "us", "time of the syncs, summed"),
        ];
        // The source of waits that are all timed.
        let source = SampledSource::new(WAIT_HISTOGRAM, metrics).with(Scope::Host, Phase::Settled);
        Self { counters, source }
    }
}

impl Sampler for SyncSampler {
    fn source(&self) -> &SampledSource {
        &self.source
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        let c = &self.counters;
        let value = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
        Ok(vec![Some(value(&c.commits)), Some(value(&c.syncs)), Some(value(&c.sync_ns) / 1e3)])
    }

    fn latencies(&mut self) -> Option<SampledLatencies> {
        let syncs = self.counters.sync_latencies.lock().unwrap_or_else(PoisonError::into_inner).drain();
        let kinds = if syncs.count() == 0 { None } else { Some((wait_kind::LOG_SYNC.to_owned(), syncs)) };
        Some(SampledLatencies { one_of: 1, kinds: kinds.into_iter().collect() })
    }
}
