//! The three states of the sessions' threads, as the scheduler counted them.

use mindful_core::contract::metric::Counter;

use crate::figures::counters::Counters;

/// Shares of the sessions' time; together 1.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Scheduler {
    pub on_cpu: f64,
    /// Runnable, and waiting for a CPU.
    pub queued: f64,
    /// Waiting for anything else.
    pub asleep: f64,
}

impl Scheduler {
    /// `None` if the threads are not visible.
    pub(crate) fn from_counters(counters: &Counters) -> Option<Self> {
        let on_cpu = counters.ratio(Counter::SessionCpuUs, Counter::SessionTimeUs)?.min(1.0);
        let queued = counters.ratio(Counter::SessionQueueUs, Counter::SessionTimeUs)?.min(1.0 - on_cpu);
        Some(Self { on_cpu, queued, asleep: 1.0 - on_cpu - queued })
    }

    /// The same as shares of the time that `idle`, a part of it asleep, leaves.
    pub(crate) fn without(self, idle: f64) -> Self {
        let busy = 1.0 - idle;
        Self { on_cpu: self.on_cpu / busy, queued: self.queued / busy, asleep: (self.asleep - idle) / busy }
    }
}
