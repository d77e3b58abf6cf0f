//! Counters of the sessions' work. Sessions publish when a slice ends.

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

/// A counter of a source, by the counters of the sessions and the length of a block.
type Figure = fn(&Counters, u64) -> f64;

fn count(counter: &AtomicU64) -> f64 {
    counter.load(Ordering::Relaxed) as f64
}

/// One source of counters of the sessions.
#[derive(Debug)]
pub(crate) struct CounterSampler {
    counters: Arc<Counters>,
    block_size: u64,
    source: SampledSource,
    figures: Vec<Figure>,
    /// Whether the syncs are timed, too.
    timed: bool,
}

impl CounterSampler {
    /// Blocks read and written.
    pub(crate) fn of_blocks(counters: Arc<Counters>, block_size: u64) -> Self {
        let known: [(Metric, Figure); 7] = [
            (
                Metric::counter(
                    Counter::PhysicalReads,
                    "blocks",
                    "blocks read by the sessions: bytes by the block size",
                ),
                |c, block_size| count(&c.read_bytes) / block_size as f64,
            ),
            (
                Metric::counter(Counter::ReadRequests, "1", "reads completed by the sessions, of a block or large"),
                |c, _| count(&c.reads),
            ),
            (Metric::counter("read_bytes", "bytes", "bytes read by the sessions"), |c, _| count(&c.read_bytes)),
            (
                Metric::counter(Counter::ReadTimeUs, "us", "time of the reads, from submission to completion, summed"),
                |c, _| count(&c.read_ns) / 1e3,
            ),
            (
                Metric::counter(Counter::PhysicalWrites, "blocks", "blocks written by the sessions, one at a time"),
                |c, _| count(&c.writes),
            ),
            (Metric::counter("write_bytes", "bytes", "bytes written by the sessions"), |c, _| count(&c.write_bytes)),
            (Metric::counter("rows_parsed", "1", "rows walked in the blocks read (look parse)"), |c, _| count(&c.rows)),
        ];
        let (metrics, figures): (Vec<Metric>, _) = known.into_iter().unzip();
        let source = SampledSource::new("raw", metrics).with(Scope::Host, Phase::Settled);
        Self { counters, block_size, source, figures, timed: false }
    }

    /// Writes made durable, under the name of the source of waits that are all timed.
    pub(crate) fn of_syncs(counters: Arc<Counters>, block_size: u64) -> Self {
        let known: [(Metric, Figure); 3] = [
            (Metric::counter(Counter::Commits, "1", "writes made durable, by a sync, or each by O_DSYNC"), |c, _| {
                count(&c.commits)
            }),
            (Metric::counter(Counter::LogSyncs, "1", "syncs (fdatasync) of the sessions"), |c, _| count(&c.syncs)),
            (Metric::counter(Counter::LogSyncTimeUs, "us", "time of the syncs, summed"), |c, _| {
                count(&c.sync_ns) / 1e3
            }),
        ];
        let (metrics, figures): (Vec<Metric>, _) = known.into_iter().unzip();
        let source = SampledSource::new(WAIT_HISTOGRAM, metrics).with(Scope::Host, Phase::Settled);
        Self { counters, block_size, source, figures, timed: true }
    }
}

impl Sampler for CounterSampler {
    fn source(&self) -> &SampledSource {
        &self.source
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        Ok(self.figures.iter().map(|figure| Some(figure(&self.counters, self.block_size))).collect())
    }

    fn latencies(&mut self) -> Option<SampledLatencies> {
        if !self.timed {
            return None;
        }
        let syncs = self.counters.sync_latencies.lock().unwrap_or_else(PoisonError::into_inner).drain();
        let kinds = if syncs.count() == 0 { None } else { Some((wait_kind::LOG_SYNC.to_owned(), syncs)) };
        Some(SampledLatencies { one_of: 1, kinds: kinds.into_iter().collect() })
    }
}
