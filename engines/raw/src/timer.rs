//! A session's clock: the CPU's counter if the kernel keeps time by it too.

use std::time::Instant;

use mindful_host::{Kernel, cpu};
use quanta::Clock;

/// Clock sources of the kernel that are the CPU's own counter and synchronized between cores.
const COUNTERS: [&str; 2] = ["tsc", "arch_sys_counter"];

/// Time since its start. Reading the counter takes half of the time of a clock call, which is 2 % of a block read from
/// the page cache.
#[derive(Debug, Clone)]
pub(crate) enum Timer {
    Counter(Clock, u64),
    Kernel(Instant),
}

impl Timer {
    /// A timer from now on. The first of the process finds out how fast the counter runs, which takes up to 200 ms.
    pub(crate) fn start() -> Self {
        Self::by(&cpu::clock_source(&Kernel::default()).unwrap_or_default())
    }

    fn by(source: &str) -> Self {
        if !COUNTERS.contains(&source) {
            return Self::Kernel(Instant::now());
        }
        let clock = Clock::new();
        let start = clock.raw();
        Self::Counter(clock, start)
    }

    #[inline]
    pub(crate) fn ns(&self) -> u64 {
        match self {
            Self::Counter(clock, start) => clock.delta_as_nanos(*start, clock.raw()),
            Self::Kernel(start) => start.elapsed().as_nanos() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_counter_runs_as_fast_as_the_clock_of_the_kernel() {
        let (counter, kernel) = (Timer::by("tsc"), Timer::by("kvm-clock"));
        assert!(matches!((&counter, &kernel), (Timer::Counter(..), Timer::Kernel(_))));
        // An interruption between two readings spoils one window, but not the best of many.
        let off = |_| {
            let before = (counter.ns(), kernel.ns());
            std::thread::sleep(Duration::from_millis(10));
            let after = (counter.ns(), kernel.ns());
            ((after.0 - before.0) as f64 / (after.1 - before.1) as f64 - 1.0).abs()
        };
        let best = (0..20).map(off).fold(f64::INFINITY, f64::min);
        assert!(best < 0.001, "off by {best}");
    }
}
