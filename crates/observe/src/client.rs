//! CPU of mindful itself.

use mindful_core::Result;
use mindful_core::metric::{Metric, Sampler, shared};
use rustix::time::{ClockId, clock_gettime};

/// Samples the CPU of this process: all its threads, none of its children.
#[derive(Debug)]
pub(crate) struct Client {
    metrics: [Metric; 1],
}

impl Client {
    pub(crate) fn new() -> Self {
        let help = "user and system CPU of mindful itself, without the processes it started";
        Self { metrics: [Metric::counter(shared::CLIENT_CPU_US, "us", help)] }
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
        let used = clock_gettime(ClockId::ProcessCPUTime);
        Ok(vec![Some(used.tv_sec as f64 * 1e6 + used.tv_nsec as f64 / 1e3)])
    }
}
