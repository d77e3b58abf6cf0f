//! The counters of the imagined server, published by sessions when a slice ends.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use mindful_core::Result;
use mindful_core::metric::{Metric, Phase, Sampler, shared};

use crate::options::Options;
use crate::target::BLOCK_BYTES;

/// What sessions have done since the target was opened.
#[derive(Debug, Default)]
pub struct Counters {
    /// Blocks visited.
    pub blocks: AtomicU64,
    /// Blocks updated.
    pub updated: AtomicU64,
    /// Transactions committed.
    pub commits: AtomicU64,
    /// Bytes of log.
    pub log_bytes: AtomicU64,
    /// Time reads took, us.
    pub read_us: AtomicU64,
}

/// Reads [`Counters`] as a database with this hit ratio and page cache would tell them.
pub struct NullSampler {
    counters: Arc<Counters>,
    metrics: Vec<Metric>,
    miss_share: f64,
    storage_share: f64,
    cpu_us: Option<f64>,
}

impl NullSampler {
    /// The sampler of an opened target.
    pub fn new(counters: &Arc<Counters>, options: &Options) -> Self {
        let miss_share = 1.0 - options.hit_ratio.percent() / 100.0;
        Self {
            counters: Arc::clone(counters),
            metrics: metrics(),
            miss_share,
            storage_share: miss_share * (1.0 - options.page_cache_share.percent() / 100.0),
            cpu_us: options.cpu.map(|cpu| cpu.as_secs_f64() * 1e6),
        }
    }
}

fn metrics() -> Vec<Metric> {
    vec![
        Metric::counter(shared::LOGICAL_READS, "blocks", "Blocks visited by all sessions"),
        Metric::counter(shared::PHYSICAL_READS, "blocks", "Blocks visited that the imagined cache did not hold"),
        Metric::counter(shared::PHYSICAL_WRITES, "blocks", "Blocks updated"),
        Metric::counter(shared::LOG_BYTES, "bytes", "Log of the updates: 256 bytes a light one, a block a heavy one"),
        Metric::counter(shared::COMMITS, "1", "Transactions committed"),
        Metric::counter(shared::READ_TIME_US, "us", "Time of reads, by the share the imagined cache did not serve"),
        Metric::counter(shared::PROCESS_READ_BYTES, "bytes", "Bytes the imagined page cache did not hold"),
        Metric::counter(shared::DEVICE_READS, "1", "Blocks the imagined page cache did not hold"),
        Metric::counter(shared::DEVICE_READ_BYTES, "bytes", "The same in bytes"),
        Metric::counter(shared::SERVER_CPU_USER_US, "us", "Imagined CPU: blocks times null_cpu"),
    ]
}

impl Sampler for NullSampler {
    fn name(&self) -> &'static str {
        "null"
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn phase(&self) -> Phase {
        Phase::Settled
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        let count = |counter: &AtomicU64| counter.load(Ordering::Acquire) as f64;
        let blocks = count(&self.counters.blocks);
        let stored = (blocks * self.storage_share).round();
        Ok(vec![
            Some(blocks),
            Some((blocks * self.miss_share).round()),
            Some(count(&self.counters.updated)),
            Some(count(&self.counters.log_bytes)),
            Some(count(&self.counters.commits)),
            Some((count(&self.counters.read_us) * self.miss_share).round()),
            Some(stored * BLOCK_BYTES as f64),
            Some(stored),
            Some(stored * BLOCK_BYTES as f64),
            self.cpu_us.map(|us| (blocks * us).round()),
        ])
    }
}
