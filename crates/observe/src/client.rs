//! CPU of mindful itself.

use mindful_core::Result;
use mindful_core::metric::{Metric, Sampler, shared};
use mindful_host::cpu;

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
        Ok([cpu::of_process(), cpu::of_thread()].map(|used| Some(used.as_secs_f64() * 1e6)).to_vec())
    }
}
