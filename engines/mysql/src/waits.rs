//! Where sessions spend their time: what they wait for, sampled over one connection. The performance schema tells it
//! where it keeps waits; on this host the kernel tells what a session's thread is at, the process list what it does.
//!
//! Counts of samples only tell shares of time when samples are independent of the work, so the time between two is
//! drawn anew each time.

mod doing;
mod monitor;

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mindful_core::draw::draw_unit;
use mindful_core::event::Events;
use mindful_core::metric::{Metric, Sampler, shared};
use mindful_core::wait::{SAMPLES, WaitEvent};
use mindful_core::{Error, Result};
use mindful_host::{cpu, priority};

use self::monitor::Monitor;
use crate::link::Link;

/// Stream of the draws that spread samples in time.
const SPREAD: i64 = 0x77_61_69_74;
/// Share of one CPU that looking may take, the server's part and ours together.
const BUDGET: f64 = 0.01;
/// Looks are never further apart than this, unless so asked for.
const LONGEST: Duration = Duration::from_millis(500);
/// How long the end of a look is waited for.
const PATIENCE: Duration = Duration::from_secs(2);

/// The samplers `waits` (samples by what sessions are at) and `wait_sampling` (what that costs), from one thread that
/// ends with the last of them. A sample is taken every `interval`, or less often where that cost too much. None where
/// nothing can be looked at, which is reported.
pub fn samplers(link: &Arc<Link>, interval: Duration, events: &dyn Events) -> Result<Vec<Box<dyn Sampler>>> {
    let Some(monitor) = Monitor::open(link, events)? else { return Ok(Vec::new()) };
    let known = monitor.events();
    let counter = |event: &WaitEvent| {
        Metric::counter(event.to_string(), "samples", "Sessions found at this, summed over all samples")
    };
    let metrics = known.iter().map(counter).collect();
    let sampling = Arc::new(Sampling::start(monitor, known, interval)?);
    let waits = Waits { sampling: Arc::clone(&sampling), metrics };
    Ok(vec![Box::new(waits), Box::new(CostOfWaits { sampling, metrics: metrics_of_cost() })])
}

/// What the sampling thread has found so far.
struct Found {
    known: Vec<WaitEvent>,
    /// Samples in the order of `known`.
    counts: Vec<f64>,
    cost: Cost,
    /// Why there will be no more samples.
    fault: Option<Error>,
}

/// What looking has cost so far.
struct Cost {
    samplings: u64,
    took: Duration,
    own: Duration,
    /// CPU of the server's thread that answers, and when sampling began; `None` on another host.
    server: Option<(Duration, Duration)>,
    asked: Duration,
    interval: Duration,
}

impl Cost {
    fn sampled(&mut self, took: Duration, server: Option<Duration>) {
        self.samplings += 1;
        self.took += took;
        self.own = cpu::of_thread();
        self.server = self.server.zip(server).map(|((first, _), now)| (first, now));
        let used = self.own + self.server.map_or(Duration::ZERO, |(first, now)| now.saturating_sub(first));
        self.interval = within_budget(self.asked, used.as_secs_f64() / self.samplings as f64);
    }

    fn values(&self) -> Vec<Option<f64>> {
        vec![
            self.server.map(|(_, now)| now.as_micros() as f64),
            Some(self.own.as_micros() as f64),
            Some(self.samplings as f64),
            Some(self.took.as_micros() as f64),
            Some(self.interval.as_micros() as f64),
        ]
    }
}

fn metrics_of_cost() -> Vec<Metric> {
    vec![
        Metric::counter(shared::MONITOR_CPU_US, "us", "CPU of the server's thread that answers the sampling of waits"),
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

/// The interval at which looks of `each_s` CPU seconds take no more than [`BUDGET`].
fn within_budget(asked: Duration, each_s: f64) -> Duration {
    let needed = Duration::from_secs_f64((each_s / BUDGET).min(LONGEST.as_secs_f64()));
    needed.max(asked)
}

/// The sampling thread; it ends when this is dropped.
struct Sampling {
    found: Arc<Mutex<Found>>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Sampling {
    fn start(mut monitor: Monitor, known: Vec<WaitEvent>, asked: Duration) -> Result<Self> {
        let server = monitor.server_cpu().map(|now| (now, now));
        let (samplings, took, own) = (0, Duration::ZERO, Duration::ZERO);
        let cost = Cost { samplings, took, own, server, asked, interval: asked };
        let counts = vec![0.0; known.len()];
        let found = Arc::new(Mutex::new(Found { known, counts, cost, fault: None }));
        let (stop, stopped) = channel();
        let shared = Arc::clone(&found);
        let thread = std::thread::Builder::new()
            .name("waits".to_owned())
            .spawn(move || {
                priority::go_first();
                sample_until(&stopped, &mut monitor, &shared);
            })
            .map_err(|error| Error::run(format!("cannot start a thread ({error})"), "raise the limit of processes"))?;
        Ok(Self { found, stop: Some(stop), thread: Some(thread) })
    }

    /// What is found by now; an error once sampling has failed, for old counts would pass as new ones.
    fn found(&self) -> Result<MutexGuard<'_, Found>> {
        let found = held(&self.found);
        match &found.fault {
            Some(fault) => Err(fault.clone()),
            None => Ok(found),
        }
    }
}

impl Drop for Sampling {
    fn drop(&mut self) {
        drop(self.stop.take());
        let (Some(thread), begun) = (self.thread.take(), Instant::now()) else { return };
        // A look under way at a server that has frozen ends with its connection, and nobody waits for that.
        while !thread.is_finished() && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn held(found: &Mutex<Found>) -> MutexGuard<'_, Found> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
}

fn sample_until(stopped: &Receiver<()>, monitor: &mut Monitor, found: &Mutex<Found>) {
    for number in 0.. {
        let pause = held(found).cost.interval.mul_f64(0.5 + draw_unit(number, SPREAD));
        if stopped.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        let begun = Instant::now();
        let sample = monitor.sample();
        let (took, server) = (begun.elapsed(), monitor.server_cpu());
        let mut found = held(found);
        match sample {
            Ok(sessions) => {
                found.add(&sessions);
                found.cost.sampled(took, server);
            }
            Err(fault) => {
                found.fault = Some(fault);
                return;
            }
        }
    }
}

impl Found {
    fn add(&mut self, sessions: &[WaitEvent]) {
        for event in sessions {
            if let Some(at) = self.known.iter().position(|known| known == event) {
                self.counts[at] += 1.0;
            }
        }
    }
}

struct Waits {
    sampling: Arc<Sampling>,
    metrics: Vec<Metric>,
}

impl Sampler for Waits {
    fn name(&self) -> &'static str {
        SAMPLES
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        Ok(self.sampling.found()?.counts.iter().copied().map(Some).collect())
    }
}

struct CostOfWaits {
    sampling: Arc<Sampling>,
    metrics: Vec<Metric>,
}

impl Sampler for CostOfWaits {
    fn name(&self) -> &'static str {
        "wait_sampling"
    }

    fn metrics(&self) -> &[Metric] {
        &self.metrics
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        Ok(self.sampling.found()?.cost.values())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dear_looks_are_taken_less_often() {
        let asked = Duration::from_millis(20);
        assert_eq!(within_budget(asked, 100e-6), asked);
        assert_eq!(within_budget(asked, 1e-3), Duration::from_millis(100));
        assert_eq!(within_budget(asked, 1.0), LONGEST);
        assert_eq!(within_budget(Duration::from_secs(1), 1.0), Duration::from_secs(1));
    }
}
