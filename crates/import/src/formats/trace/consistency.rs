//! Whether the times of a trace agree with its clock.
//!
//! A session does one thing at a time: a wait begins after the line before it, and all waits and calls fit into the time of the
//! trace. A file that was put together of several sessions has several clocks, and is not compared with one.

use std::collections::{BTreeMap, BTreeSet};

use super::read::Call;
use crate::number::{CLOCKS_APART, Printed};
use crate::waits::Wait;

/// What CPU clocks are rounded to, and lines of one instant may differ by, us.
const TICK_US: f64 = 20e3;
/// Most sessions that are distinguished.
const MOST_SESSIONS: usize = 16;

#[derive(Default)]
pub(super) struct Consistency {
    sessions: BTreeSet<Vec<u8>>,
    /// The begin of the first line with a time stamp and the end of the last one, us.
    span: Option<(u64, u64)>,
    /// Time of waits with a time stamp, and how much of it was before the end of the line before, us.
    waited_us: u64,
    overlapped_us: u64,
    /// CPU and elapsed time of calls by depth, us.
    calls: BTreeMap<u64, (u64, u64)>,
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
        let Some(end_us) = wait.tim_us else { return };
        self.waited_us = self.waited_us.saturating_add(wait.ela_us);
        // A clock that goes back says nothing of this wait.
        if let Some((_, last_us)) = self.span.filter(|(_, last)| *last <= end_us) {
            let overlapped_us = wait.ela_us.saturating_sub(end_us - last_us);
            self.overlapped_us = self.overlapped_us.saturating_add(overlapped_us);
        }
        self.extend(end_us, wait.ela_us);
    }

    pub(super) fn call(&mut self, call: &Call) {
        let (cpu_us, ela_us) = self.calls.entry(call.depth.min(64)).or_default();
        *cpu_us = cpu_us.saturating_add(call.cpu_us);
        *ela_us = ela_us.saturating_add(call.ela_us);
        if let Some(end_us) = call.tim_us {
            self.extend(end_us, call.ela_us);
        }
    }

    fn extend(&mut self, end_us: u64, ela_us: u64) {
        let begin_us = end_us.saturating_sub(ela_us);
        let (first_us, last_us) = self.span.unwrap_or((begin_us, end_us));
        self.span = Some((first_us.min(begin_us), last_us.max(end_us)));
    }

    /// What contradicts itself, in words.
    pub(super) fn contradictions(&self) -> Vec<String> {
        let s = |us: f64| us / 1e6;
        let beyond = |part_us: u64, whole_us: u64| {
            let (part, whole) = (part_us as f64, whole_us as f64);
            let rounded = Printed { value: whole, half_step: TICK_US };
            Printed::exact(part).exceeds(rounded, CLOCKS_APART).then_some((s(part), s(whole)))
        };
        let mut found = Vec::new();
        for (depth, (cpu_us, ela_us)) in &self.calls {
            found.extend(
                beyond(*cpu_us, *ela_us)
                    .map(|(cpu, ela)| format!("calls at depth {depth}: {cpu:.3} s of CPU in {ela:.3} s")),
            );
        }
        let Some((first_us, last_us)) = self.span.filter(|_| self.is_of_one_session()) else { return found };
        let span_us = last_us - first_us;
        // Calls within calls are in the time of these.
        let outer_us = self.calls.values().next().map_or(0, |(_, ela_us)| *ela_us);
        for (what, part_us) in [("waits", self.waited_us), ("calls", outer_us)] {
            let part = beyond(part_us, span_us);
            found.extend(part.map(|(part, span)| format!("{what}: {part:.3} s in a trace of {span:.3} s")));
        }
        let tolerated_us = TICK_US.max(CLOCKS_APART * self.waited_us as f64);
        let overlapped = self.overlapped_us as f64 > tolerated_us;
        if overlapped {
            let (part, all) = (s(self.overlapped_us as f64), s(self.waited_us as f64));
            found.push(format!("waits: {part:.3} s of {all:.3} s began before the line before them ended"));
        }
        found
    }
}
