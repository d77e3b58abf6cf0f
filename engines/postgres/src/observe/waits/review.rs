//! Adjusts the sampling interval: sampling uses only a limited share of the sessions' CPU.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use mindful_host::{Kernel, process};
use mindful_sql::observe::wait_sampling::{SamplingCost, within_budget};

/// Share of the sessions' CPU that sampling may take; the promise is 1 %.
const BUDGET: f64 = 0.007;
const REVIEW: Duration = Duration::from_secs(1);

/// CPU of the sessions and of the answering process at the last adjustment.
#[derive(Debug)]
pub(super) struct Review {
    pid: i32,
    local: bool,
    pub seen: Vec<i32>,
    at: Instant,
    looks: u64,
    server: Option<Duration>,
    sessions: HashMap<i32, Duration>,
}

impl Review {
    /// For samples answered by the server process `pid`, which is visible if it is `local`.
    pub(super) fn new(pid: i32, local: bool) -> Self {
        let (seen, sessions, server) = (Vec::new(), HashMap::new(), local.then(|| cpu(pid)).flatten());
        Self { pid, local, seen, at: Instant::now(), looks: 0, server, sessions }
    }

    /// The processes of the last sampled sessions; empty on another host.
    pub(super) fn threads(&self) -> Vec<u32> {
        if self.local && cpu(self.pid).is_some() {
            self.seen.iter().map(|pid| pid.unsigned_abs()).collect()
        } else {
            Vec::new()
        }
    }

    /// CPU of the answering process; `None` on another host.
    pub(super) fn server_cpu(&self) -> Option<Duration> {
        self.local.then(|| cpu(self.pid)).flatten()
    }

    /// The interval at which the cost of samples stays within the budget, a share of the sessions' CPU.
    pub(super) fn interval(&mut self, cost: &SamplingCost) -> Duration {
        let passed = self.at.elapsed();
        if !self.local || passed < REVIEW {
            return cost.interval;
        }
        let server = cost.last.server;
        let sessions: HashMap<i32, Duration> = self.seen.iter().filter_map(|pid| Some((*pid, cpu(*pid)?))).collect();
        // A session that is new since the last review is ignored.
        let used = sessions.iter().filter_map(|(pid, now)| Some(now.saturating_sub(*self.sessions.get(pid)?)));
        let busy_cpus = used.sum::<Duration>().as_secs_f64() / passed.as_secs_f64();
        let interval = server.zip(self.server).map(|(now, before)| {
            let looks = cost.samples.saturating_sub(self.looks).max(1);
            within_budget(cost.asked, now.saturating_sub(before).div_f64(looks as f64), BUDGET * busy_cpus)
        });
        (self.at, self.looks, self.server, self.sessions) = (Instant::now(), cost.samples, server, sessions);
        interval.unwrap_or(cost.interval)
    }
}

fn cpu(pid: i32) -> Option<Duration> {
    let (kernel, pid) = (Kernel::default(), u32::try_from(pid).ok()?);
    process::name(&kernel, pid)?.starts_with("postgres").then_some(())?;
    process::cpu(&kernel, pid)
}
