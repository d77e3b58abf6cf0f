//! CPU of mindful itself.

use mindful_core::Result;
use mindful_core::metric::{Metric, Sampler, shared};
use rustix::time::{ClockId, clock_gettime};

/// Samples the CPU of this process: all its threads, none of its children.
#[derive(Debug)]
pub(crate) struct Client {
    metrics: [Metric; 2],
}

impl Client {
    pub(crate) fn new() -> Self {
        let help = "user and system CPU of mindful itself, without the processes it started";
        let watching = "CPU of the thread that reads all sources; part of it";
        let metrics = [
            Metric::counter(shared::CLIENT_CPU_US, "us", help),
            Metric::counter(shared::OBSERVER_CPU_US, "us", watching),
        ];
        Self { metrics }
    }
}

impl Sampler for Client {
    fn name(&self) -> &'static str {
        "client"
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        // The thread that asks is the one that reads all other sources too.
        Ok([ClockId::ProcessCPUTime, ClockId::ThreadCPUTime].map(|clock| Some(cpu_us(clock))).to_vec())
    }
}

/// What a clock of CPU time shows, us.
pub(crate) fn cpu_us(clock: ClockId) -> f64 {
    let used = clock_gettime(clock);
    used.tv_sec as f64 * 1e6 + used.tv_nsec as f64 / 1e3
}
