//! State of the sessions of a system under test in the kernel's scheduler: on a CPU, waiting for one, or asleep.
//!
//! A session that waits for a CPU does not wait for storage, even if its wait event is still set. Samples of wait
//! events cannot distinguish the two: the event remains set until the session runs again. The scheduler counts both
//! times exactly.

use std::collections::HashMap;
use std::time::Instant;

use mindful_core::contract::metric::{Counter, HostSource, Metric, SampledSource, Sampler};

use crate::kernel_file::{Kernel, value};
use crate::process;

/// Further threads are not read: the figures are shares, and this sample is large enough.
const MOST: usize = 64;

#[derive(Debug, Clone, Copy)]
struct Times {
    at: Instant,
    on_cpu_ns: u64,
    queued_ns: u64,
}

/// Samples the present threads of sessions, by their numbers.
pub fn session_threads(kernel: Kernel, mut threads: impl FnMut() -> Vec<u32> + Send + 'static) -> Box<dyn Sampler> {
    let metrics = [
        Metric::counter(Counter::SessionCpuUs, "us", "Time that the sessions' threads were on a CPU"),
        Metric::counter(Counter::SessionQueueUs, "us", "Time that the sessions' threads waited for a CPU"),
        Metric::counter(Counter::SessionTimeUs, "us", "Time in which the sessions' threads were watched"),
    ];
    let mut known = HashMap::<u32, Times>::new();
    // On a CPU, waiting for one, and in all, us.
    let mut sums: Option<[f64; 3]> = None;
    SampledSource::new(HostSource::SessionThreads.name(), metrics).read_by(move || {
        let mut threads = threads();
        threads.sort_unstable();
        let step = threads.len().div_ceil(MOST).max(1);
        let chosen = threads.into_iter().step_by(step);
        let now: HashMap<_, _> = chosen.filter_map(|thread| Some((thread, times(&kernel, thread)?))).collect();
        if !now.is_empty() {
            let sums = sums.get_or_insert_default();
            for (thread, times) in &now {
                let Some(before) = known.get(thread) else { continue };
                sums[0] += times.on_cpu_ns.saturating_sub(before.on_cpu_ns) as f64 / 1e3;
                sums[1] += times.queued_ns.saturating_sub(before.queued_ns) as f64 / 1e3;
                sums[2] += times.at.duration_since(before.at).as_secs_f64() * 1e6;
            }
        }
        known = now;
        Ok(sums.map_or_else(|| vec![None; 3], |sums| sums.map(Some).to_vec()))
    })
}

fn times(kernel: &Kernel, thread: u32) -> Option<Times> {
    let text = value(process::folder(kernel, thread).join("schedstat"))?;
    let mut fields = text.split_whitespace().map(str::parse);
    let at = Instant::now();
    Some(Times { at, on_cpu_ns: fields.next()?.ok()?, queued_ns: fields.next()?.ok()? })
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
            let mut sampler = session_threads(Kernel::default(), move || vec![id]);
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
        let mut none = session_threads(Kernel::default(), Vec::new);
        assert_eq!(none.read().unwrap(), [None; 3]);
    }
}
