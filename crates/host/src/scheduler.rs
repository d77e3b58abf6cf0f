//! State of the sessions of a system under test in the kernel's scheduler: on a CPU, waiting for one, or asleep.
//!
//! A session that waits for a CPU does not wait for storage, even if its wait event is still set. Samples of wait
//! events cannot distinguish the two: the event remains set until the session runs again. The scheduler counts both
//! times exactly.

use std::collections::HashMap;
use std::time::Instant;

use mindful_core::Result;
use mindful_core::contract::metric::{Counter, HostSource, Metric, SampledSource, Sampler};

use crate::kernel_file::{Kernel, value};
use crate::process;

/// Further threads are not read: the figures are shares, and this sample is large enough.
const MOST: usize = 64;

pub struct SessionThreads<F> {
    kernel: Kernel,
    threads: F,
    known: HashMap<u32, Times>,
    /// On a CPU, waiting for one, and in all, us.
    sums: Option<[f64; 3]>,
    source: SampledSource,
}

#[derive(Debug, Clone, Copy)]
struct Times {
    at: Instant,
    on_cpu_ns: u64,
    queued_ns: u64,
}

impl<F: FnMut() -> Vec<u32>> SessionThreads<F> {
    pub fn new(kernel: Kernel, threads: F) -> Self {
        let metrics = vec![
            Metric::counter(Counter::SessionCpuUs, "us", "Time that the sessions' threads were on a CPU"),
            Metric::counter(Counter::SessionQueueUs, "us", "Time that the sessions' threads waited for a CPU"),
            Metric::counter(Counter::SessionTimeUs, "us", "Time in which the sessions' threads were watched"),
        ];
        let source = SampledSource::new(HostSource::SessionThreads.name(), metrics);
        Self { kernel, threads, known: HashMap::new(), sums: None, source }
    }

    fn times(&self, thread: u32) -> Option<Times> {
        let text = value(process::folder(&self.kernel, thread).join("schedstat"))?;
        let mut fields = text.split_whitespace().map(str::parse);
        let at = Instant::now();
        Some(Times { at, on_cpu_ns: fields.next()?.ok()?, queued_ns: fields.next()?.ok()? })
    }
}

impl<F: FnMut() -> Vec<u32> + Send> Sampler for SessionThreads<F> {
    fn source(&self) -> &SampledSource {
        &self.source
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        let mut threads = (self.threads)();
        threads.sort_unstable();
        let step = threads.len().div_ceil(MOST).max(1);
        let chosen = threads.into_iter().step_by(step);
        let now: HashMap<u32, Times> = chosen.filter_map(|thread| Some((thread, self.times(thread)?))).collect();
        for (thread, times) in &now {
            let Some(before) = self.known.get(thread) else { continue };
            let sums = self.sums.get_or_insert_default();
            sums[0] += times.on_cpu_ns.saturating_sub(before.on_cpu_ns) as f64 / 1e3;
            sums[1] += times.queued_ns.saturating_sub(before.queued_ns) as f64 / 1e3;
            sums[2] += times.at.duration_since(before.at).as_secs_f64() * 1e6;
        }
        if !now.is_empty() && self.sums.is_none() {
            self.sums = Some([0.0; 3]);
        }
        self.known = now;
        Ok(self.sums.map_or_else(|| vec![None; 3], |sums| sums.map(Some).to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_spins_is_awake_and_one_that_sleeps_is_not() {
        let share_awake = |spins: bool| {
            let (send, receive) = std::sync::mpsc::channel();
            let until = Instant::now() + std::time::Duration::from_millis(300);
            let thread = std::thread::spawn(move || {
                send.send(rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs()).unwrap();
                while Instant::now() < until {
                    if !spins {
                        std::thread::sleep(std::time::Duration::from_millis(20));
                    }
                }
            });
            let id = receive.recv().unwrap();
            let mut sampler = SessionThreads::new(Kernel::default(), move || vec![id]);
            assert_eq!(sampler.read().unwrap(), [Some(0.0); 3]);
            std::thread::sleep(std::time::Duration::from_millis(200));
            let read: Vec<f64> = sampler.read().unwrap().into_iter().map(Option::unwrap).collect();
            thread.join().unwrap();
            (read[0] + read[1]) / read[2]
        };
        assert!(share_awake(true) > 0.9 && share_awake(false) < 0.5);
    }

    #[test]
    fn threads_that_are_not_known_have_unknown_times() {
        let mut none = SessionThreads::new(Kernel::default(), Vec::new);
        assert_eq!(none.read().unwrap(), [None; 3]);
    }
}
