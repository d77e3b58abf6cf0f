//! The clock of the simulated server: ahead of this host's, and optionally set once during the work.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use mindful_core::contract::clock::Clock;
use mindful_core::{Error, Result};

use crate::value::two_times;

/// Time of a clock change after the start of the run, and its size; us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ClockStep {
    at_us: i64,
    by_us: i64,
}

impl ClockStep {
    /// `1s+300ms`.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let wrong = || Error::plan(format!("`{text}` is not a step of a clock"), "write for example 1s+300ms");
        two_times(text, wrong).map(|(at_us, by_us)| Self { at_us, by_us })
    }
}

#[derive(Debug)]
pub(crate) struct WrongClock {
    host: Arc<dyn Clock>,
    ahead_us: i64,
    step: Option<ClockStep>,
    /// This host's time at which the work began; `i64::MAX` before.
    began_us: AtomicI64,
}

impl WrongClock {
    /// A clock that is `ahead_us` of this host's until `step`.
    pub(crate) fn new(host: Arc<dyn Clock>, ahead_us: i64, step: Option<ClockStep>) -> Self {
        Self { host, ahead_us, step, began_us: AtomicI64::new(i64::MAX) }
    }

    pub(crate) fn host(&self) -> Arc<dyn Clock> {
        Arc::clone(&self.host)
    }

    /// The work begins at `host_us`; only the first word of it counts.
    pub(crate) fn begin(&self, host_us: i64) {
        let _ = self.began_us.compare_exchange(i64::MAX, host_us, Ordering::SeqCst, Ordering::SeqCst);
    }

    pub(crate) fn ahead_us(&self, host_us: i64) -> i64 {
        self.ahead_us + self.step_at().filter(|(at, _)| host_us >= *at).map_or(0, |(_, by)| by)
    }

    /// This host's time at which it shows `clock_us`; if it jumps over that, the instant of the jump.
    pub(crate) fn host_us(&self, clock_us: i64) -> i64 {
        let before = clock_us - self.ahead_us;
        match self.step_at() {
            Some((at, by)) if before > at => (before - by).max(at),
            _ => before,
        }
    }

    pub(crate) fn now_us(&self) -> i64 {
        let now = self.host.now_us();
        now + self.ahead_us(now)
    }

    fn step_at(&self) -> Option<(i64, i64)> {
        self.step.map(|step| (self.began_us.load(Ordering::SeqCst).saturating_add(step.at_us), step.by_us))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_is_set_leaps_over_the_instants_between() {
        let clock = WrongClock::new(
            Arc::new(mindful_core::contract::clock::HostClock),
            100,
            Some(ClockStep::parse("1s+300ms").unwrap()),
        );
        assert_eq!((clock.ahead_us(5_000_000), clock.host_us(5_000_100)), (100, 5_000_000));
        clock.begin(0);
        assert_eq!((clock.ahead_us(999_999), clock.ahead_us(1_000_000)), (100, 300_100));
        assert_eq!(clock.host_us(1_000_100), 1_000_000);
        assert_eq!(clock.host_us(1_200_100), 1_000_000);
        assert_eq!(clock.host_us(2_000_100), 1_700_000);
        assert!(ClockStep::parse("1s").is_err());
    }
}
