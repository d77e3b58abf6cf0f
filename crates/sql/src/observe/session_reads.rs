//! The kernel's counters of the server's processes or threads that work for mindful's own sessions, to separate reads
//! of others.

use std::io;

use mindful_core::contract::metric::{Counter, Metric, SampledSource, Sampler};
use mindful_host::Kernel;

/// Of more of them nothing is read: it would take more of a CPU than it is worth.
pub const MOST: usize = 256;

/// Samples the bytes that the processes or threads of `ids` fetched, one for each session; `storage_bytes` reads those of one.
pub fn sampler(
    mut ids: impl FnMut() -> Vec<u32> + Send + 'static,
    storage_bytes: fn(&Kernel, u32) -> io::Result<[u64; 2]>,
) -> Box<dyn Sampler> {
    let metrics = [
        Metric::gauge(Counter::SessionProcesses, "1", "Server processes or threads of mindful's sessions"),
        Metric::counter(Counter::SessionReadBytes, "bytes", "Bytes that they caused to be fetched from storage"),
    ];
    let kernel = Kernel::default();
    SampledSource::new(Counter::SessionProcesses.name(), metrics).read_by(move || {
        let ids = ids();
        let bytes = |id: &u32| storage_bytes(&kernel, *id).ok().map(|[read, _]| read as f64);
        let known = !ids.is_empty() && ids.len() <= MOST;
        let of_all = if known { ids.iter().map(bytes).sum() } else { None };
        Ok(vec![Some(ids.len() as f64), of_all])
    })
}
