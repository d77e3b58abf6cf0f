//! Where database time went: shares of the time sessions were busy, by class.

use std::collections::BTreeMap;

use mindful_core::contract::metric::Counter;
use mindful_core::contract::wait::{SAMPLES, TIMES, WaitClass, is_latch};

use crate::figures::counters::{Change, Counters};
use crate::figures::work::Work;

/// Growth of the counters of waits of busy sessions, by class.
fn busy_by_class<'a>(changes: impl Iterator<Item = &'a Change>) -> BTreeMap<WaitClass, f64> {
    let mut sums = BTreeMap::new();
    for change in changes {
        let class = WaitClass::from_counter(&change.name);
        if let Some(grew) = change.delta.filter(|_| class.is_busy()) {
            *sums.entry(class).or_default() += grew;
        }
    }
    sums
}

/// Smallest share of samples of sleeping sessions that can divide the time asleep into classes.
const LEAST_ASLEEP: f64 = 0.02;

fn events_of(counters: &Counters) -> impl Iterator<Item = &Change> {
    counters.0.iter().filter(|change| change.source == SAMPLES)
}

/// The three states of the sessions' threads, as the scheduler counted them: shares of their time, together 1.
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

/// Shares of database time; a class that was not observed is unknown.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shares {
    parts: BTreeMap<WaitClass, f64>,
    /// Number of samples; `None` if the shares come from counters.
    pub samples: Option<f64>,
    /// Of the contention, waits for latches.
    pub latches: f64,
    /// The same time as counted by the scheduler, if it did.
    pub(crate) scheduler: Option<Scheduler>,
}

impl Shares {
    pub fn new(parts: impl IntoIterator<Item = (WaitClass, f64)>) -> Self {
        Self { parts: parts.into_iter().collect(), ..Self::default() }
    }

    /// From sampled wait events where there are any, else from the clocks that are read anyway.
    pub(crate) fn from_work(work: Option<&Work>, counters: &Counters) -> Self {
        let reported = Self::sampled(counters).or_else(|| Self::timed(counters));
        reported.or_else(|| Some(Self::clocked(work?, counters))).unwrap_or_default()
    }

    /// Time in each wait event, summed by the database, by the busy time of sessions: no samples. Time without an event
    /// is other time.
    fn timed(counters: &Counters) -> Option<Self> {
        let busy_us = counters.growth(Counter::BusyTimeUs).filter(|us| *us > 0.0)?;
        let mut times = busy_by_class(counters.0.iter().filter(|change| change.source == TIMES));
        let known: f64 = times.values().sum();
        if times.is_empty() {
            return None;
        }
        *times.entry(WaitClass::Other).or_default() += (busy_us - known).max(0.0);
        let share = |class| (class, times.get(&class).unwrap_or(&0.0) / busy_us);
        Some(Self::new(WaitClass::BUSY.map(share)))
    }

    /// A source that does not count a class has no share for it.
    fn sampled(counters: &Counters) -> Option<Self> {
        let samples = busy_by_class(events_of(counters));
        let total = Some(samples.values().sum::<f64>()).filter(|total| *total > 0.0)?;
        let share_of = |is_one: fn(&str) -> bool| {
            let events = events_of(counters).filter(|change| is_one(&change.name));
            events.filter_map(|change| change.delta).sum::<f64>() / total
        };
        let idle = share_of(|name| WaitClass::from_counter(name) == WaitClass::Idle);
        let by_samples = Self {
            samples: Some(total),
            latches: share_of(is_latch),
            ..Self::new(samples.into_iter().map(|(class, count)| (class, count / total)))
        };
        Some(match Scheduler::from_counters(counters) {
            Some(scheduler) => by_samples.witnessed(scheduler, idle),
            None => by_samples,
        })
    }

    /// Corrects the samples by the scheduler: only a sleeping session waits for anything but a CPU. Samples show the
    /// event, and the scheduler shows the duration. An event remains set while its session waits for a CPU, and a
    /// session is often sampled just before it sleeps. `idle` is the sampled time without work, by the busy time.
    fn witnessed(mut self, scheduler: Scheduler, idle: f64) -> Self {
        let waits: f64 = self.parts.iter().filter(|(class, _)| **class != WaitClass::Cpu).map(|(_, share)| share).sum();
        let asleep_samples = waits + idle;
        // Fewer samples of sleeping sessions cannot divide the time asleep.
        let tells = asleep_samples > LEAST_ASLEEP;
        let all_idle = if tells { scheduler.asleep * idle / asleep_samples } else { 0.0 };
        if 1.0 - all_idle < LEAST_ASLEEP {
            return self;
        }
        let busy = scheduler.without(all_idle);
        let factor = if tells && waits > 0.0 { busy.asleep / waits } else { 0.0 };
        for (class, share) in &mut self.parts {
            *share = if *class == WaitClass::Cpu { busy.on_cpu + busy.queued } else { *share * factor };
        }
        if factor <= 0.0 {
            self.parts.insert(WaitClass::Other, busy.asleep);
        }
        Self { latches: self.latches * factor, scheduler: Some(busy), ..self }
    }

    /// CPU time, and time of reads and commits, by the busy time of sessions. The rest is unknown. A session with
    /// several operations under way still has one thread: CPU is divided by the time of threads.
    fn clocked(work: &Work, counters: &Counters) -> Self {
        let (busy, threads) = (work.busy_sessions(), f64::from(work.sessions));
        if busy <= 0.0 {
            return Self::default();
        }
        let threads_busy = busy.min(threads);
        // If sessions pause, or serve other work too, the time of their threads is not the time of operations.
        let scheduler = Scheduler::from_counters(counters)
            .map(|scheduler| scheduler.without((1.0 - threads_busy / threads).clamp(0.0, scheduler.asleep)));
        let cores = counters.server_cores().or_else(|| work.cores()).map(|cores| (cores / threads_busy).min(1.0));
        let cpu = scheduler.map(|scheduler| scheduler.on_cpu + scheduler.queued).or(cores);
        let cpu = cpu.map(|share| (WaitClass::Cpu, share));
        let read_us = counters.rate(Counter::ReadTimeUs).filter(|us| *us > 0.0);
        // A read under way while its session waits for a CPU is over, or waits for it.
        let most = scheduler.map_or(1.0, |scheduler| scheduler.asleep);
        let read = read_us.map(|us| (WaitClass::Read, (us / 1e6 / busy).min(most)));
        let commit_us = counters.rate(Counter::CommitTimeUs).filter(|us| *us > 0.0);
        let log = commit_us.map(|us| (WaitClass::Log, (us / 1e6 / busy).min(most)));
        let others = work.writer_wait_us.map(|us| (WaitClass::Contention, (us / 1e6 / work.seconds / busy).min(1.0)));
        // Clocks of waits also count the time until a CPU is free, which the scheduler counts as such.
        let mut waits: Vec<_> = [read, log, others].into_iter().flatten().collect();
        let all: f64 = waits.iter().map(|(_, share)| share).sum();
        if all > most {
            for (_, share) in &mut waits {
                *share *= most / all;
            }
        }
        Self { scheduler, ..Self::new(cpu.into_iter().chain(waits)) }
    }

    pub fn get(&self, class: WaitClass) -> Option<f64> {
        self.parts.get(&class).copied()
    }

    pub fn top(&self, count: usize) -> Vec<(WaitClass, f64)> {
        let shown = self.parts.iter().filter(|(_, share)| **share > 0.0);
        let mut parts: Vec<_> = shown.map(|(class, share)| (*class, *share)).collect();
        parts.sort_by(|a, b| b.1.total_cmp(&a.1));
        parts.truncate(count);
        parts
    }

    /// Standard error of a sampled share, `sqrt(p (1 - p) / n)`; `None` without samples.
    pub fn error(&self, share: f64) -> Option<f64> {
        self.samples.map(|n| (share * (1.0 - share) / n).sqrt())
    }
}
