//! Samples the waits of sessions, by a separate thread over a separate connection.
//!
//! Counts of samples are shares of time only if samples are independent of the work. Therefore the interval between two
//! is drawn each time.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mindful_core::contract::metric::{Counter, Metric, Phase, SampledSource, Sampler, Scope};
use mindful_core::contract::slice::session_name;
use mindful_core::contract::wait::{BY_SESSION, SAMPLES, WaitClass, WaitEvent};
use mindful_core::plan::settings::Key;
use mindful_core::workload::draw::draw_unit;
use mindful_core::{Error, Result, plan::units};
use mindful_host::session_threads;
use mindful_host::{Kernel, cpu, priority};

const SPREAD: i64 = 0x77_61_69_74;
/// Longest interval of samples, unless the user sets a longer one.
const LONGEST: Duration = Duration::from_millis(500);
const SHORTEST_ASKED: Duration = Duration::from_millis(5);
const LONGEST_ASKED: Duration = Duration::from_secs(1);
/// Wait for the end of a sample in progress when sampling ends.
const PATIENCE: Duration = Duration::from_secs(2);

/// The option of an engine for the sampling interval; [`parse_interval`] reads it.
pub const fn option_key(usual: &'static str) -> Key {
    Key::with_default("wait_sampling", "TIME|off", usual, "Sampling interval for session wait events (5ms to 1s)")
}

/// The time between two samples; `None`: no sampling.
pub fn parse_interval(text: &str) -> Result<Option<Duration>> {
    if text == "off" {
        return Ok(None);
    }
    let interval = units::parse_duration(text)?;
    if (SHORTEST_ASKED..=LONGEST_ASKED).contains(&interval) {
        return Ok(Some(interval));
    }
    Err(Error::plan(format!("`{text}` is out of range"), "give 5ms to 1s, or off"))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whom {
    Ours,
    AllClients,
}

/// CPUs that sampling may take, the server's part and ours together, unless a monitor has a better measure.
const BUDGET_CPUS: f64 = 0.01;

/// A connection over which the sessions of a server are sampled.
pub trait Monitor: Send + 'static {
    /// The number of sessions in each wait event. Events that were not passed to [`start`] do not count.
    fn sample(&mut self) -> Result<Vec<(WaitEvent, f64)>>;

    /// The waits of single sessions in the last sample, by their numbers.
    fn by_session(&self) -> Vec<(u32, WaitClass)> {
        Vec::new()
    }

    /// The threads of this host that serve the sessions of the last sample.
    fn threads(&self) -> Vec<u32> {
        Vec::new()
    }

    /// CPU of the server's process that answers, if it is on this host.
    fn server_cpu(&self) -> Option<Duration> {
        None
    }

    /// CPU that sampling has used so far; called by the sampling thread.
    fn cpu(&self) -> MonitorCpu {
        MonitorCpu { own: cpu::of_thread(), server: self.server_cpu() }
    }

    /// Mean time between later samples, given their cost so far.
    fn interval(&mut self, cost: &SamplingCost) -> Duration {
        within_budget(cost.asked, cost.cpu_per_sample(), BUDGET_CPUS)
    }

    /// Ends a sample in progress, from another thread; does nothing if that is impossible.
    fn canceller(&self) -> Box<dyn Fn() + Send + Sync> {
        Box::new(|| ())
    }
}

/// CPU that looking has used so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MonitorCpu {
    /// Of the calling thread of this process.
    pub own: Duration,
    /// Of the answering process in the server, since its start; `None` on another host.
    pub server: Option<Duration>,
}

#[derive(Debug, Clone, Copy)]
pub struct SamplingCost {
    /// Requested time between samples.
    pub asked: Duration,
    pub interval: Duration,
    pub samples: u64,
    /// Time from query to answer, summed over all samples.
    pub took: Duration,
    pub first: MonitorCpu,
    pub last: MonitorCpu,
}

impl SamplingCost {
    /// CPU per sample, mindful's part and the server's together, if visible.
    pub(crate) fn cpu_per_sample(&self) -> Duration {
        let server = self.last.server.zip(self.first.server).map(|(last, first)| last.saturating_sub(first));
        let used = self.last.own.saturating_sub(self.first.own) + server.unwrap_or_default();
        used.div_f64((self.samples as f64).max(1.0))
    }

    fn values(&self) -> Vec<Option<f64>> {
        let us = |time: Duration| time.as_secs_f64() * 1e6;
        vec![
            self.last.server.map(us),
            Some(us(self.last.own)),
            Some(self.samples as f64),
            Some(us(self.took)),
            Some(us(self.interval)),
        ]
    }
}

/// The mean time between samples of `each` CPU that keeps them within `cpus` CPUs; at least `asked`.
pub fn within_budget(asked: Duration, each: Duration, cpus: f64) -> Duration {
    let longest = LONGEST.max(asked);
    let needed_s = each.as_secs_f64() / cpus;
    // Of sessions that use nothing, nothing may be taken.
    if cpus > 0.0 && needed_s < longest.as_secs_f64() { Duration::from_secs_f64(needed_s).max(asked) } else { longest }
}

pub(crate) type Samplers = [Box<dyn Sampler>; 4];

/// The samplers of waits, and the reason when sampling ended. `waits` counts samples by wait event, in the order of
/// `known`. `wait_sampling` is the cost of sampling. `session_threads` is the scheduler's state of the sampled
/// sessions. `session_waits` counts samples of each of `sessions`, if they are few.
///
/// One thread feeds them all, and ends with the last of them. A sample is taken every `asked`, or less often if the
/// monitor requires it. `server` is the answering part of the server, for the help of a metric.
///
/// Fails if no thread can be started.
pub fn start_sampling(
    monitor: impl Monitor,
    known: Vec<WaitEvent>,
    asked: Duration,
    server: &'static str,
    sessions: u32,
) -> Result<(Arc<Sampling>, Samplers)> {
    let metrics: Vec<Metric> = known.iter().map(metric_of).collect();
    let of_server = |name, metrics: Vec<Metric>| SampledSource::new(name, metrics).with(Scope::Server, Phase::Boundary);
    let sampling = Arc::new(Sampling::start(monitor, known, asked)?);
    let waits = sampling.sampler(of_server(SAMPLES, metrics), |found| found.counts.iter().copied().map(Some).collect());
    let cost = sampling.sampler(of_server("wait_sampling", metrics_of_cost(server)), |found| found.cost.values());
    let of_threads = Arc::clone(&sampling);
    let threads = session_threads(Kernel::default(), move || held(&of_threads.found).threads.clone());
    let single = 0..if sessions > MOST_SESSIONS { 0 } else { sessions };
    let single: Vec<_> = single.flat_map(|session| WaitClass::BUSY.map(|class| (session, class))).collect();
    let metrics: Vec<_> = single.iter().copied().map(metric_of_session).collect();
    let by_session = sampling.sampler(SampledSource::new(BY_SESSION, metrics), move |found| {
        single.iter().map(|one| Some(found.by_session.get(one).copied().unwrap_or(0.0))).collect()
    });
    Ok((sampling, [waits, cost, threads, by_session]))
}

fn metric_of(event: &WaitEvent) -> Metric {
    let help = match event.class {
        WaitClass::Server => "Samples in which a process of the server itself had this wait, in any database",
        _ => "Sessions with this wait, summed over all samples",
    };
    Metric::counter(event.to_string(), "samples", help)
}

fn metrics_of_cost(server: &'static str) -> Vec<Metric> {
    let of_server = format!("CPU of the server's {server} that answers the sampling of waits");
    vec![
        Metric::counter(Counter::MonitorCpuUs, "us", &of_server),
        Metric::counter(Counter::SamplingCpuUs, "us", "CPU of mindful's thread that takes the samples"),
        Metric::counter(Counter::Samplings, "1", "Number of samples of the sessions"),
        Metric::counter("sampling_time", "us", "Time from request to answer, summed over all samples"),
        Metric::gauge(
            "sampling_interval",
            "us",
            "Mean time between samples; longer than requested if they cost too much",
        ),
    ]
}

struct SampleCounts {
    known: Vec<WaitEvent>,
    /// Samples in the order of `known`.
    counts: Vec<f64>,
    cost: SamplingCost,
    /// Threads that served the sessions of the last sample.
    threads: Vec<u32>,
    /// Samples of single sessions.
    by_session: BTreeMap<(u32, WaitClass), f64>,
    fault: Option<Error>,
}

impl SampleCounts {
    fn add(&mut self, seen: &[(WaitEvent, f64)]) {
        for (event, sessions) in seen {
            if let Some(at) = self.known.iter().position(|known| known == event) {
                self.counts[at] += sessions;
            }
        }
    }
}

/// The sampling thread; it ends when this is dropped.
pub struct Sampling {
    found: Arc<Mutex<SampleCounts>>,
    cancel: Box<dyn Fn() + Send + Sync>,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Sampling {
    fn start(mut monitor: impl Monitor, known: Vec<WaitEvent>, asked: Duration) -> Result<Self> {
        let first = MonitorCpu { own: Duration::ZERO, ..monitor.cpu() };
        let cost = SamplingCost { asked, interval: asked, samples: 0, took: Duration::ZERO, first, last: first };
        let found = SampleCounts {
            counts: vec![0.0; known.len()],
            known,
            cost,
            threads: Vec::new(),
            by_session: BTreeMap::new(),
            fault: None,
        };
        let (found, cancel, (stop, stopped)) = (Arc::new(Mutex::new(found)), monitor.canceller(), channel());
        let shared = Arc::clone(&found);
        let thread = std::thread::Builder::new()
            .name("waits".to_owned())
            .spawn(move || {
                priority::go_first();
                sample_until(&stopped, &mut monitor, &shared);
            })
            .map_err(|error| Error::run(format!("cannot start a thread ({error})"), "raise the limit of processes"))?;
        Ok(Self { found, cancel, stop: Some(stop), thread: Some(thread) })
    }

    fn sampler(
        self: &Arc<Self>,
        source: SampledSource,
        values: impl Fn(&SampleCounts) -> Vec<Option<f64>> + Send + 'static,
    ) -> Box<dyn Sampler> {
        let sampling = Arc::clone(self);
        source.read_by(move || sampling.found().map(|found| values(&found)))
    }

    /// Fails once sampling has failed, for old figures would pass as new ones.
    pub fn check(&self) -> Result<()> {
        self.found().map(drop)
    }

    fn found(&self) -> Result<MutexGuard<'_, SampleCounts>> {
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
        (self.cancel)();
        let (Some(thread), begun) = (self.thread.take(), Instant::now()) else { return };
        // A sample that cannot be cancelled at a frozen server is not awaited.
        while !thread.is_finished() && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn held(found: &Mutex<SampleCounts>) -> MutexGuard<'_, SampleCounts> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
}

fn sample_until(stopped: &Receiver<()>, monitor: &mut impl Monitor, found: &Mutex<SampleCounts>) {
    for number in 0.. {
        let pause = held(found).cost.interval.mul_f64(0.5 + draw_unit(number, SPREAD));
        if stopped.recv_timeout(pause) != Err(RecvTimeoutError::Timeout) {
            return;
        }
        let begun = Instant::now();
        let seen = monitor.sample();
        let (took, last, threads) = (begun.elapsed(), monitor.cpu(), monitor.threads());
        let mut found = held(found);
        match seen {
            Ok(seen) => {
                found.add(&seen);
                found.threads = threads;
                monitor.by_session().into_iter().for_each(|one| *found.by_session.entry(one).or_default() += 1.0);
                let cost = &mut found.cost;
                (cost.samples, cost.took, cost.last) = (cost.samples + 1, cost.took + took, last);
                cost.interval = monitor.interval(cost);
            }
            Err(fault) => {
                found.fault = Some(fault);
                return;
            }
        }
    }
}

/// Most sessions that are counted one by one. With more of them, samples are rarer, and the share of one session means
/// little.
const MOST_SESSIONS: u32 = 32;

fn metric_of_session((session, class): (u32, WaitClass)) -> Metric {
    let name = class.counter_name(&session_name(session));
    Metric::counter(name, "samples", "Samples in which this session had a wait of this class")
}

#[cfg(test)]
mod tests {
    use super::*;

    const ASKED: Duration = Duration::from_millis(20);

    fn us(us: u64) -> Duration {
        Duration::from_micros(us)
    }

    #[test]
    fn cheap_samples_are_taken_as_requested_dear_ones_less_often() {
        assert_eq!(within_budget(ASKED, us(100), 0.014), ASKED);
        assert_eq!(within_budget(ASKED, us(1_000), 0.01), Duration::from_millis(100));
    }

    #[test]
    fn an_interval_has_bounds_whatever_a_sample_costs() {
        assert_eq!(within_budget(ASKED, Duration::MAX, 1e-6), LONGEST);
        assert_eq!(within_budget(ASKED, us(100), -0.0), LONGEST);
        assert_eq!(within_budget(ASKED, Duration::ZERO, 0.0), LONGEST);
        let long = Duration::from_secs(1);
        assert_eq!(within_budget(long, Duration::MAX, 0.01), long);
    }

    const READ: WaitEvent = WaitEvent::new(WaitClass::Read, "page");
    const OTHER: WaitEvent = WaitEvent::new(WaitClass::Other, "unheard-of");

    /// Reports two reading sessions, until it fails.
    struct TwoReaders {
        looks: u64,
        fails_after: u64,
    }

    impl Monitor for TwoReaders {
        fn sample(&mut self) -> Result<Vec<(WaitEvent, f64)>> {
            self.looks += 1;
            if self.looks > self.fails_after {
                Err(Error::run("gone", "nothing"))
            } else {
                Ok(vec![(READ, 2.0), (OTHER, 1.0)])
            }
        }

        fn cpu(&self) -> MonitorCpu {
            MonitorCpu { own: us(10 * self.looks), server: Some(us(1_000 + 30 * self.looks)) }
        }

        fn interval(&mut self, cost: &SamplingCost) -> Duration {
            assert_eq!(cost.cpu_per_sample(), us(40));
            cost.interval
        }
    }

    #[test]
    fn samples_are_counted_by_event_with_their_cost() {
        let monitor = TwoReaders { looks: 0, fails_after: 5 };
        let (sampling, [mut waits, mut cost, _, of_sessions]) =
            start_sampling(monitor, vec![READ], Duration::from_millis(2), "process", 2).unwrap();
        assert_eq!(of_sessions.metrics()[7].name, "read/session 2");
        let mut last = (0.0, 0.0);
        let error = loop {
            match (cost.read(), waits.read()) {
                (Ok(cost), Ok(waits)) => last = (cost[2].unwrap(), waits[0].unwrap()),
                (_, Err(error)) | (Err(error), _) => break error,
            }
        };
        // The values are read one after the other, so a sample may have ended between them.
        assert!(last.1 >= 2.0 * last.0 && last.1 <= 2.0 * last.0 + 2.0 && last.1 <= 10.0, "{last:?}");
        assert!(error.to_string().contains("gone") && sampling.check().is_err(), "{error}");
    }
}
