//! The counters of the imagined server.

use std::sync::Arc;
use std::time::Duration;

use mindful_core::contract::clock::Clock;
use mindful_core::contract::metric::{Counter, Metric, Phase, SampledSource, Sampler, Scope};

use crate::server::Server;

pub(crate) const BLOCK_BYTES: u64 = 8192;

/// Blocks served by the simulated server's caches.
struct Caches {
    hit_share: f64,
    /// Time for the cache to fill, from the first reading on.
    fill: Duration,
    clock: Arc<dyn Clock>,
    began: Option<Duration>,
    blocks: f64,
    missed: f64,
    read_us: f64,
    missed_us: f64,
}

impl Caches {
    /// Adds the work since the last reading, by the share that the cache missed.
    fn miss(&mut self, blocks: f64, read_us: f64) {
        let now = self.clock.elapsed();
        let passed = now.saturating_sub(*self.began.get_or_insert(now));
        let filled = if passed >= self.fill { 1.0 } else { passed.as_secs_f64() / self.fill.as_secs_f64() };
        let share = 1.0 - self.hit_share * filled;
        self.missed += share * (blocks - self.blocks);
        self.missed_us += share * (read_us - self.read_us);
        (self.blocks, self.read_us) = (blocks, read_us);
    }
}

fn metrics() -> [Metric; 10] {
    [
        Metric::counter(Counter::LogicalReads, "blocks", "Blocks visited by all sessions"),
        Metric::counter(Counter::PhysicalReads, "blocks", "Blocks visited that the simulated cache did not contain"),
        Metric::counter(Counter::PhysicalWrites, "blocks", "Blocks updated"),
        Metric::counter(Counter::LogBytes, "bytes", "Log of the updates: 256 bytes a light one, a block a heavy one"),
        Metric::counter(Counter::Commits, "1", "Transactions committed"),
        Metric::counter(
            Counter::ReadTimeUs,
            "us",
            "Time of reads, by the share that the simulated cache did not serve",
        ),
        Metric::counter(Counter::ProcessReadBytes, "bytes", "Bytes that the simulated page cache did not contain"),
        Metric::counter(Counter::DeviceReads, "1", "Blocks that the simulated page cache did not contain"),
        Metric::counter(Counter::DeviceReadBytes, "bytes", "The same in bytes"),
        Metric::counter(Counter::ServerCpuUserUs, "us", "Simulated CPU: blocks times null_cpu"),
    ]
}

/// Reads the counters of `server` as a database with this hit ratio and page cache would report them.
pub(crate) fn sampler(server: &Arc<Server>) -> Box<dyn Sampler> {
    let server = Arc::clone(server);
    let (hit_share, fill) = (server.options.hit_ratio.percent() / 100.0, server.options.cache_fill);
    let clock = server.clock.host();
    let mut caches =
        Caches { hit_share, fill, clock, began: None, blocks: 0.0, missed: 0.0, read_us: 0.0, missed_us: 0.0 };
    // Of misses that the page cache does not serve.
    let stored_share = 1.0 - server.options.page_cache_share.percent() / 100.0;
    let cpu_us = server.options.cpu.map(|cpu| cpu.as_secs_f64() * 1e6);
    SampledSource::new("null", metrics()).with(Scope::Database, Phase::Settled).read_by(move || {
        let totals = *server.totals();
        let blocks = totals.blocks as f64;
        caches.miss(blocks, totals.read_us as f64);
        let stored = (caches.missed * stored_share).round();
        Ok(vec![
            Some(blocks),
            Some(caches.missed.round()),
            Some(totals.updated as f64),
            Some(totals.log_bytes as f64),
            Some(totals.commits as f64),
            Some(caches.missed_us.round()),
            Some(stored * BLOCK_BYTES as f64),
            Some(stored),
            Some(stored * BLOCK_BYTES as f64),
            cpu_us.map(|us| (blocks * us).round()),
        ])
    })
}
