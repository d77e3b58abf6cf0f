//! What the kernel counts of the server processes of mindful's own sessions, so that reads of other backends are told apart by
//! process.

use std::sync::Arc;

use mindful_core::Result;
use mindful_core::contract::metric::{Metric, Sampler, shared};
use mindful_host::{Kernel, process};

use crate::connect::abort::Sessions;

/// Of more of them nothing is read: it would take more of a CPU than it is worth.
const MOST: usize = 256;

pub(crate) struct SessionProcesses {
    kernel: Kernel,
    sessions: Arc<Sessions>,
    metrics: [Metric; 2],
}

impl SessionProcesses {
    pub(crate) fn new(sessions: &Arc<Sessions>) -> Self {
        let metrics = [
            Metric::gauge(shared::SESSION_PROCESSES, "1", "Server processes of mindful's sessions"),
            Metric::counter(
                shared::SESSION_READ_BYTES,
                "bytes",
                "Bytes that the server processes of mindful's sessions caused to be fetched from storage",
            ),
        ];
        Self { kernel: Kernel::default(), sessions: Arc::clone(sessions), metrics }
    }
}

impl Sampler for SessionProcesses {
    fn name(&self) -> &'static str {
        shared::SESSION_PROCESSES.name()
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        let pids = self.sessions.pids();
        let of_all = || {
            let read =
                pids.iter().map(|pid| process::storage_bytes(&self.kernel, *pid).ok().map(|[read, _]| read as f64));
            let read: Option<Vec<f64>> = read.collect();
            read.filter(|read| !read.is_empty()).map(|read| read.iter().sum())
        };
        Ok(vec![Some(pids.len() as f64), if pids.len() > MOST { None } else { of_all() }])
    }
}
