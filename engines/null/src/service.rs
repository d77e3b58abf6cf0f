//! The duration of an operation, and exact waits.

use std::time::{Duration, Instant};

use mindful_core::contract::slice::Placement;
use mindful_core::workload::draw;
use mindful_core::workload::{Op, Workload};

use crate::options::Options;
use crate::signal::{SignalCurve, gaussian};

/// Longest operation, for any factors: 30 years can still be added up.
const LONGEST_US: f64 = 1e15;

#[derive(Debug)]
pub(crate) struct ServiceTime {
    mean_us: f64,
    spread: f64,
    stream: u64,
    curves: Vec<SignalCurve>,
}

impl ServiceTime {
    pub(crate) fn new(options: &Options, workload: &Workload, placement: Placement) -> Self {
        let crowding = options.crowding(placement.sessions);
        Self {
            mean_us: options.latency.as_secs_f64() * 1e6 * crowding,
            spread: options.spread,
            stream: draw::mix64(workload.seed ^ u64::from(placement.session) << 32 ^ 0x7365_7276),
            curves: options.signals.iter().map(|signal| SignalCurve::new(*signal, workload.seed)).collect(),
        }
    }

    /// Time of `op` when it begins `at_us` after the start of the run, us.
    ///
    /// Lognormal with the given mean: `mean exp(s z - s^2 / 2)`, z standard normal.
    pub(crate) fn us(&mut self, op: &Op, at_us: i64) -> f64 {
        if self.mean_us == 0.0 {
            return 0.0;
        }
        let curve: f64 = self.curves.iter_mut().map(|curve| curve.factor(at_us as f64 / 1e6)).product();
        let spread = match self.spread {
            0.0 => 1.0,
            sigma => (sigma * gaussian(op.index, self.stream) - sigma * sigma / 2.0).exp(),
        };
        (self.mean_us * curve * spread).min(LONGEST_US)
    }
}

/// Below this a sleep is coarser than the wait: spin.
const SPIN: Duration = Duration::from_micros(50);

/// Most oversleeping that is made up for, so that a stopped host does not turn into a burst.
const MOST_OVERSLEPT: Duration = Duration::from_millis(10);

/// Waits that are right on average: when one wait is too long, the next ones are shorter.
#[derive(Debug, Default)]
pub(crate) struct Wait {
    overslept: Duration,
}

impl Wait {
    /// Waits for `time`, or until `interrupted` returns true, for which this thread is unparked; returns whether it
    /// waited to the end.
    pub(crate) fn wait(&mut self, time: Duration, interrupted: impl Fn() -> bool) -> bool {
        let Some(left) = time.checked_sub(self.overslept).filter(|left| !left.is_zero()) else {
            self.overslept -= time;
            return true;
        };
        let began = Instant::now();
        while let Some(rest) = left.checked_sub(began.elapsed()).filter(|rest| !rest.is_zero()) {
            if interrupted() {
                return false;
            }
            if rest > SPIN { std::thread::park_timeout(rest) } else { std::hint::spin_loop() }
        }
        self.overslept = began.elapsed().saturating_sub(left).min(MOST_OVERSLEPT);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Number of times that this thread gave up its CPU.
    fn naps() -> u64 {
        let status = std::fs::read_to_string("/proc/thread-self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("voluntary_ctxt_switches:"));
        line.unwrap().trim().parse().unwrap()
    }

    #[test]
    fn a_long_wait_is_one_sleep() {
        let before = naps();
        assert!(Wait::default().wait(Duration::from_millis(300), || false));
        // Ten thousand sessions that polled every 20 ms kept two CPUs busy.
        assert!(naps() - before <= 4, "{} sleeps", naps() - before);
    }

    #[test]
    fn waits_are_right_on_average() {
        let mut wait = Wait::default();
        let (mut waited, mut made_up) = (Duration::ZERO, Duration::ZERO);
        for _ in 0..1000 {
            let began = Instant::now();
            assert!(wait.wait(Duration::from_micros(150), || false));
            waited += began.elapsed();
            // A busy host may keep the thread from its CPU for longer than is made up for.
            made_up += began.elapsed().min(MOST_OVERSLEPT);
        }
        let ratio = |time: Duration| time.as_secs_f64() / 0.150;
        assert!(ratio(waited) > 0.93, "waited {} times what was asked", ratio(waited));
        assert!(ratio(made_up) < 1.5, "waited {} times what was asked, {waited:?} in all", ratio(made_up));
    }
}
