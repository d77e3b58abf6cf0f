//! What the kernel counts of the server's processes or threads that work for mindful's own sessions, to separate reads
//! of others.

use std::io;

use mindful_core::Result;
use mindful_core::contract::metric::{Counter, Metric, SampledSource, Sampler};
use mindful_host::{Kernel, process};

/// Of more of them nothing is read: it would take more of a CPU than it is worth.
pub const MOST: usize = 256;

/// Samples the bytes that they fetched.
pub struct SessionReads<F> {
    kernel: Kernel,
    /// Their ids, at the moment.
    ids: F,
    storage_bytes: fn(&Kernel, u32) -> io::Result<[u64; 2]>,
    source: SampledSource,
}

impl<F: FnMut() -> Vec<u32>> SessionReads<F> {
    /// Of a server with a process for each session.
    pub fn of_processes(ids: F) -> Self {
        Self::new(ids, process::storage_bytes)
    }

    /// Of a server with a thread for each session.
    pub fn of_threads(ids: F) -> Self {
        Self::new(ids, process::thread_storage_bytes)
    }

    fn new(ids: F, storage_bytes: fn(&Kernel, u32) -> io::Result<[u64; 2]>) -> Self {
        let metrics = [
            Metric::gauge(Counter::SessionProcesses, "1", "Server processes or threads of mindful's sessions"),
            Metric::counter(Counter::SessionReadBytes, "bytes", "Bytes that they caused to be fetched from storage"),
        ];
        let source = SampledSource::new(Counter::SessionProcesses.name(), metrics);
        Self { kernel: Kernel::default(), ids, storage_bytes, source }
    }
}

impl<F: FnMut() -> Vec<u32> + Send> Sampler for SessionReads<F> {
    fn source(&self) -> &SampledSource {
        &self.source
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        let ids = (self.ids)();
        let of_all = || {
            let read = |id: &u32| (self.storage_bytes)(&self.kernel, *id).ok().map(|[read, _]| read as f64);
            ids.iter().map(read).sum::<Option<f64>>()
        };
        Ok(vec![Some(ids.len() as f64), if ids.is_empty() || ids.len() > MOST { None } else { of_all() }])
    }
}
