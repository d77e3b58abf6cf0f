//! Whether the times of a trace agree with its clock.
//!
//! A session does one thing at a time: a wait begins after the line before it, and a call after the call before it, save for
//! calls within calls. A file that was put together of several sessions has several clocks, and is not compared with one.

use std::collections::{BTreeMap, BTreeSet};

use super::read::Call;
use crate::number::{CLOCKS_APART, Printed};
use crate::waits::Wait;

/// Rounding of CPU clocks, and accepted difference between lines of one instant, us.
const TICK_US: f64 = 20e3;
/// Most sessions that are distinguished.
const MOST_SESSIONS: usize = 16;

#[derive(Default)]
pub(super) struct Consistency {
    sessions: BTreeSet<Vec<u8>>,
    /// When the last line ended, us.
    last_us: Option<u64>,
    waits: Times,
    /// By depth: a call includes the CPU and the blocks of nested calls.
    calls: BTreeMap<u64, Calls>,
}

#[derive(Default)]
pub(super) struct Calls {
    times: Times,
    pub cpu_us: u64,
    pub visited: u64,
    /// When the last one ended.
    last_us: Option<u64>,
}

/// Elapsed time, and the part of it that overlaps the line before, us.
#[derive(Default)]
struct Times {
    all_us: u64,
    overlapped_us: u64,
}

impl Times {
    /// Adds a call of `ela_us` until `end_us`. It is ignored if the clock goes back.
    fn add(&mut self, ela_us: u64, end_us: Option<u64>, last_us: Option<u64>) {
        self.all_us = self.all_us.saturating_add(ela_us);
        let passed_us = end_us.zip(last_us).and_then(|(end, last)| end.checked_sub(last));
        let overlapped_us = passed_us.map_or(0, |passed| ela_us.saturating_sub(passed));
        self.overlapped_us = self.overlapped_us.saturating_add(overlapped_us);
    }

    fn contradiction(&self, what: &str) -> Option<String> {
        let (all, overlapped) = (self.all_us as f64, self.overlapped_us as f64);
        (overlapped > TICK_US + CLOCKS_APART * all)
            .then(|| format!("{what}: {:.3} s of {:.3} s overlap with the one before", overlapped / 1e6, all / 1e6))
    }
}

impl Consistency {
    pub(super) fn session(&mut self, id: &[u8]) {
        if self.sessions.len() < MOST_SESSIONS {
            self.sessions.insert(id.to_vec());
        }
    }

    pub(super) fn is_of_one_session(&self) -> bool {
        self.sessions.len() < 2
    }

    pub(super) fn wait(&mut self, wait: &Wait<'_>) {
        self.waits.add(wait.ela_us, wait.tim_us, self.last_us);
        self.last_us = wait.tim_us.or(self.last_us);
    }

    pub(super) fn call(&mut self, call: &Call) {
        // Calls cannot nest deeper than this.
        let calls = self.calls.entry(call.depth.min(64)).or_default();
        calls.times.add(call.ela_us, call.tim_us, calls.last_us);
        calls.cpu_us = calls.cpu_us.saturating_add(call.cpu_us);
        calls.visited = calls.visited.saturating_add(call.consistent.saturating_add(call.current));
        calls.last_us = call.tim_us.or(calls.last_us);
        self.last_us = call.tim_us.or(self.last_us);
    }

    /// A figure of all calls: that of the depth with most of it; `None` without calls.
    pub(super) fn of_calls(&self, figure: fn(&Calls) -> u64) -> Option<f64> {
        self.calls.values().map(figure).max().map(|figure| figure as f64)
    }

    /// The contradictions, in words.
    pub(super) fn contradictions(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (depth, Calls { times, cpu_us, .. }) in &self.calls {
            let (cpu, ela) = (*cpu_us as f64, Printed { value: times.all_us as f64, half_step: TICK_US });
            let exceeds = Printed::exact(cpu).exceeds(ela, CLOCKS_APART);
            let words = || format!("calls at depth {depth}: {:.3} s of CPU in {:.3} s", cpu / 1e6, ela.value / 1e6);
            found.extend(exceeds.then(words));
            found.extend(times.contradiction("calls").filter(|_| self.is_of_one_session()));
        }
        found.extend(self.waits.contradiction("waits").filter(|_| self.is_of_one_session()));
        found
    }
}
