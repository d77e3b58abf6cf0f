//! What sampling costs the server, and how often it may therefore be done.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use mindful_core::metric::{Metric, shared};
use mindful_host::{Kernel, cpu, process};

/// Share of the sessions' CPU that sampling may take; the promise is 1 %.
const BUDGET: f64 = 0.007;
/// Samples are never further apart than this, unless so asked for.
const LONGEST: Duration = Duration::from_millis(500);
/// How often the interval is thought over.
const REVIEW: Duration = Duration::from_secs(1);

/// The account of the sampling connection.
#[derive(Debug)]
pub struct Cost {
    pid: i32,
    local: bool,
    asked: Duration,
    interval: Duration,
    samplings: u64,
    took: Duration,
    /// CPU of the thread that samples, us.
    own_us: f64,
    reviewed: Instant,
    /// CPU of the monitoring process and of each session at the last review, us.
    before: (Option<f64>, HashMap<i32, f64>),
    /// Samples since then.
    since: u64,
}

/// Metrics of [`Cost::values`].
pub fn metrics() -> Vec<Metric> {
    vec![
        Metric::counter(
            shared::MONITOR_CPU_US,
            "us",
            "CPU of the server process that answers the sampling of wait events",
        ),
        Metric::counter(shared::SAMPLING_CPU_US, "us", "CPU of mindful's thread that asks for it"),
        Metric::counter(shared::SAMPLINGS, "1", "How often the sessions were looked at"),
        Metric::counter("sampling_time", "us", "Time from asking to the answer, summed over all looks"),
        Metric::gauge(
            "sampling_interval",
            "us",
            "Mean time between looks: more than asked for where they cost too much",
        ),
    ]
}

impl Cost {
    /// The account of the server process `pid`, which can be seen if it is `local`.
    pub fn new(pid: i32, local: bool, asked: Duration) -> Self {
        let before = (local.then(|| cpu_us(pid)).flatten(), HashMap::new());
        let (samplings, took, reviewed) = (0, Duration::ZERO, Instant::now());
        Self { pid, local, asked, interval: asked, samplings, took, own_us: 0.0, reviewed, before, since: 0 }
    }

    /// Mean time between two samples.
    pub fn interval(&self) -> Duration {
        self.interval
    }

    /// The figures as they are now; CPU is unknown on another host.
    pub fn values(&self) -> Vec<Option<f64>> {
        vec![
            self.monitor_us(),
            Some(self.own_us),
            Some(self.samplings as f64),
            Some(self.took.as_micros() as f64),
            Some(self.interval.as_micros() as f64),
        ]
    }

    fn monitor_us(&self) -> Option<f64> {
        self.local.then(|| cpu_us(self.pid)).flatten()
    }

    /// A sample was taken of the sessions with these process ids, by the thread that calls.
    pub fn sampled(&mut self, took: Duration, pids: &[i32]) {
        self.samplings += 1;
        self.since += 1;
        self.took += took;
        self.own_us = cpu::of_thread().as_secs_f64() * 1e6;
        let passed = self.reviewed.elapsed();
        if self.local && passed >= REVIEW {
            self.review(passed, pids);
        }
    }

    /// One sample costs so much, the sessions use so much CPU: the interval at which that is within the budget.
    fn review(&mut self, passed: Duration, pids: &[i32]) {
        let monitor_us = self.monitor_us();
        let sessions: HashMap<i32, f64> = pids.iter().filter_map(|pid| Some((*pid, cpu_us(*pid)?))).collect();
        // A session that is new since the last review tells nothing yet.
        let used = sessions.iter().filter_map(|(pid, now)| Some(now - self.before.1.get(pid)?)).sum::<f64>();
        if let Some((now, before)) = monitor_us.zip(self.before.0) {
            let sample_us = (now - before) / self.since as f64;
            self.interval = within_budget(self.asked, sample_us, used / passed.as_micros() as f64);
        }
        (self.before, self.reviewed, self.since) = ((monitor_us, sessions), Instant::now(), 0);
    }
}

/// The interval at which samples of `sample_us` CPU each take no more than [`BUDGET`] of what keeps `busy_cpus` busy.
fn within_budget(asked: Duration, sample_us: f64, busy_cpus: f64) -> Duration {
    let longest = LONGEST.max(asked);
    // Of sessions that use nothing, nothing may be taken.
    if busy_cpus <= 0.0 {
        return longest;
    }
    // Clocks of two processors may differ by more than a sample takes.
    let needed_s = sample_us.max(0.0) / (BUDGET * busy_cpus) / 1e6;
    if needed_s < longest.as_secs_f64() { Duration::from_secs_f64(needed_s).max(asked) } else { longest }
}

/// CPU that a server process of this host has used, us.
fn cpu_us(pid: i32) -> Option<f64> {
    let (kernel, pid) = (Kernel::default(), u32::try_from(pid).ok()?);
    process::name(&kernel, pid)?.starts_with("postgres").then_some(())?;
    process::cpu(&kernel, pid).map(|used| used.as_secs_f64() * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: Duration = Duration::from_millis(20);

    #[test]
    fn cheap_samples_are_taken_as_asked_and_dear_ones_less_often() {
        assert_eq!(within_budget(ASKED, 100.0, 2.0), ASKED);
        let dear = within_budget(ASKED, 1_000.0, 2.0);
        assert!(dear > ASKED * 3 && dear < ASKED * 4, "{dear:?}");
        let share = 1_000e-6 / dear.as_secs_f64() / 2.0;
        assert!((share - BUDGET).abs() < 1e-6, "{share}");
    }

    #[test]
    fn an_interval_has_bounds_whatever_a_sample_costs() {
        assert_eq!(within_budget(ASKED, 1e9, 0.001), LONGEST);
        assert_eq!(within_budget(ASKED, 100.0, -0.0), LONGEST);
        assert_eq!(within_budget(ASKED, 0.0, 0.0), LONGEST);
        let long = Duration::from_secs(1);
        assert_eq!(within_budget(long, 1e9, 1.0), long);
    }
}
