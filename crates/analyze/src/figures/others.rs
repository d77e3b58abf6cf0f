//! CPU that neither the server nor mindful used (docs/method.md, CPU).

use std::collections::{BTreeMap, BTreeSet};

use mindful_core::contract::metric::Counter;
use mindful_core::record::run::{Run, StepRecord};

use crate::figures::counters::Counters;
use crate::figures::window::Window;
use crate::figures::{ranks, rates};

/// Largest number of processes that are named for their storage traffic, and the least traffic of one.
const NAMED: usize = 3;
/// Traffic of the devices from which on the kernel's threads are shared out by it, bytes/s.
const LEAST_TRAFFIC: f64 = 16.0 * 1024.0 * 1024.0;
const NAMED_BYTES_PER_S: f64 = 256.0 * 1024.0;

/// Places of [`Named::storage_bytes_per_s`].
pub(crate) const FETCHED: usize = 0;
pub(crate) const SENT: usize = 1;

/// CPU use by processes outside the run in the window.
#[derive(Debug, Clone, PartialEq)]
pub struct Others {
    pub cores: f64,
    pub cpus: f64,
    /// The processes with the highest use, the busiest name first; empty if none is visible.
    pub(crate) processes: Vec<Named>,
}

/// Processes of one name: a build or a pool of workers is many of them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Named {
    pub name: String,
    pub pids: BTreeSet<u32>,
    /// CPUs' worth that they used together.
    pub cores: f64,
    /// Bytes that they fetched from storage, and sent there.
    pub storage_bytes_per_s: [f64; 2],
}

impl Others {
    /// Host CPU in `window` minus that of server and mindful; `None` if one of them is not visible.
    ///
    /// Interrupts are not counted: they also serve the I/O of this run. The kernel's threads count by the foreign share
    /// of the devices' traffic. In a container these threads are not visible: then only time in user mode counts, which
    /// they do not use.
    pub(crate) fn from_step(run: &Run, step: &StepRecord, window: &Window, counters: &Counters) -> Option<Self> {
        let host = run.host.as_ref().filter(|host| host.local)?;
        let cores = |counter| counters.rate(counter).map(|us| us / 1e6);
        let client = cores(Counter::ClientCpuUs)? + ranks::beside_the_first(step, window);
        let by_all = || {
            let kernel_threads = cores(Counter::KernelThreadsUs)?;
            let interrupts = cores(Counter::HostCpuIrqUs)? + cores(Counter::HostCpuSoftirqUs)?;
            let server = if host.in_process { 0.0 } else { counters.server_cores()? };
            let of_run = kernel_threads * (1.0 - foreign_traffic(counters));
            Some(cores(Counter::HostCpuBusyUs)? - interrupts - of_run - server - client)
        };
        let by_user_mode = || {
            let server = if host.in_process { 0.0 } else { cores(Counter::ServerCpuUserUs)? };
            Some(cores(Counter::HostCpuUserUs)? + cores(Counter::HostCpuNiceUs)? - server - client)
        };
        Some(Self {
            cores: by_all().or_else(by_user_mode)?.max(0.0),
            cpus: counters.host_cpus()?,
            processes: processes(step, window),
        })
    }

    /// The processes with most traffic of storage, [`FETCHED`] or [`SENT`], and their rates.
    pub(crate) fn with_most_traffic(&self, way: usize) -> Vec<String> {
        let mut used: Vec<(&str, f64)> =
            self.processes.iter().map(|named| (&*named.name, named.storage_bytes_per_s[way])).collect();
        used.retain(|(_, rate)| *rate >= NAMED_BYTES_PER_S);
        used.sort_by(|one, other| other.1.total_cmp(&one.1));
        used.into_iter().take(NAMED).map(|(name, rate)| format!("{name} {}", rates::mib_per_s(rate))).collect()
    }

    /// The part of the host's CPUs that they used, 0 to 1.
    pub(crate) fn share(&self) -> f64 {
        self.cores / self.cpus
    }
}

/// Share of the bytes at the devices of the run that others caused, 0 to 1; 0 if not known, or if almost nothing was
/// read or written.
fn foreign_traffic(counters: &Counters) -> f64 {
    let rate = |counter| counters.rate(counter).unwrap_or(0.0);
    let device = rate(Counter::DeviceReadBytes) + rate(Counter::DeviceWriteBytes);
    let own = rate(Counter::ProcessReadBytes) + rate(Counter::ProcessWriteBytes);
    if device > LEAST_TRAFFIC { (1.0 - own / device).clamp(0.0, 1.0) } else { 0.0 }
}

/// The processes that were among the busiest of a slice, by their CPU in all slices of the window where they were.
fn processes(step: &StepRecord, window: &Window) -> Vec<Named> {
    let mut used: BTreeMap<&str, (BTreeSet<u32>, f64, [f64; 2])> = BTreeMap::new();
    for process in
        step.busiest.iter().filter(|(boundary, _)| window.has_end(*boundary)).flat_map(|(_, processes)| processes)
    {
        let (pids, cpu_us, storage) = used.entry(&process.name).or_default();
        pids.insert(process.pid);
        *cpu_us += process.cpu_us;
        storage.iter_mut().zip(process.storage_bytes.unwrap_or_default()).for_each(|(sum, bytes)| *sum += bytes);
    }
    let seconds = window.seconds();
    let named = used.into_iter().map(|(name, (pids, cpu_us, storage))| Named {
        name: name.to_owned(),
        pids,
        cores: cpu_us / 1e6 / seconds,
        storage_bytes_per_s: storage.map(|bytes| bytes / seconds),
    });
    let mut named: Vec<_> = named.collect();
    named.sort_by(|one, other| other.cores.total_cmp(&one.cores));
    named
}
