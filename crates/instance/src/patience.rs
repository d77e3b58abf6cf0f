//! Length of a wait for a server: until another thread ends it, or the server makes no progress.

use std::sync::atomic::{AtomicU8, Ordering};
use std::time::{Duration, Instant};

use mindful_host::Kernel;
use mindful_host::process::{Stat, storage_bytes};

/// Longest time without progress. A server that waits for its disk may take longer.
const IDLE: Duration = Duration::from_secs(10);
const IDLE_ON_DISK: Duration = Duration::from_mins(1);
/// CPU time, in ticks of 10 ms, and bytes that are not idle: a signal that a server ignores costs it less.
const CPU_TICKS: u64 = 10;
const IO_BYTES: u64 = 64 << 10;

const NO_WAIT: u8 = 0;
const WAITING: u8 = 1;
const CUT_SHORT: u8 = 2;

/// Whether something waits for a server, and whether that was cut short.
#[derive(Debug, Default)]
pub(crate) struct Patience(AtomicU8);

impl Patience {
    /// A wait, until the result is dropped.
    pub(crate) fn wait(&self) -> impl Drop {
        self.0.store(WAITING, Ordering::SeqCst);
        Wait(self)
    }

    /// Ends the wait that is under way; the next one has its full length again.
    pub(crate) fn cut_short(&self) {
        let _ = self.0.compare_exchange(WAITING, CUT_SHORT, Ordering::SeqCst, Ordering::SeqCst);
    }

    pub(crate) fn is_cut_short(&self) -> bool {
        self.0.load(Ordering::SeqCst) == CUT_SHORT
    }
}

struct Wait<'a>(&'a Patience);

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        self.0.0.store(NO_WAIT, Ordering::SeqCst);
    }
}

/// Activity of a server's processes at the last observed progress.
pub(crate) struct Progress {
    last: Activity,
    at: Instant,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Activity {
    processes: usize,
    cpu_ticks: u64,
    io_bytes: u64,
    waits_for_disk: bool,
}

impl Progress {
    pub(crate) fn begin(processes: &[u32]) -> Self {
        Self { last: Activity::of(processes), at: Instant::now() }
    }

    pub(crate) fn has_ceased(&mut self, processes: &[u32]) -> bool {
        let now = Activity::of(processes);
        let works = now.processes != self.last.processes
            || now.cpu_ticks.abs_diff(self.last.cpu_ticks) >= CPU_TICKS
            || now.io_bytes.abs_diff(self.last.io_bytes) >= IO_BYTES;
        if works {
            (self.last, self.at) = (now, Instant::now());
        }
        self.at.elapsed() > if now.waits_for_disk { IDLE_ON_DISK } else { IDLE }
    }
}

impl Activity {
    fn of(processes: &[u32]) -> Self {
        let kernel = Kernel::default();
        let mut all = Self { processes: processes.len(), ..Self::default() };
        for pid in processes {
            if let Ok(stat) = Stat::read(&kernel, *pid) {
                all.waits_for_disk |= stat.waits_for_disk;
                all.cpu_ticks += stat.user_ticks + stat.system_ticks;
            }
            all.io_bytes += storage_bytes(&kernel, *pid).map_or(0, |bytes| bytes.iter().sum());
        }
        all
    }
}
