//! CPU of the calling thread: where it may run, and what it used.

use mindful_core::{Error, Result};
use rustix::thread::CpuSet;
use rustix::time::{ClockId, clock_gettime};

/// Binds the calling thread to `cpus`.
pub fn pin(cpus: &[usize]) -> Result<()> {
    let mut set = CpuSet::new();
    for cpu in cpus {
        set.set(*cpu);
    }
    rustix::thread::sched_setaffinity(None, &set)
        .map_err(|e| Error::plan(format!("cannot run on CPUs {cpus:?}: {e}"), "name CPUs that are online in --cpus"))
}

/// CPU that the calling thread has used, us.
pub fn thread_us() -> u64 {
    let used = clock_gettime(ClockId::ThreadCPUTime);
    used.tv_sec as u64 * 1_000_000 + used.tv_nsec as u64 / 1_000
}
