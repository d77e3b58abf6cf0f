//! Latencies of single requests at the device, from the kernel's own events of their issue and completion (tracefs,
//! `block:block_rq_issue` and `block:block_rq_complete`).
//!
//! Only a sample of the requests is timed, chosen by their sector, so that tracing stays cheap at any rate. The time is
//! that of the device: the wait in the scheduler before the issue is excluded.
//!
//! The same instance reports the transactions of the journal of the log's file system, for which no counter exists.

mod disks;
mod instance;
mod journal;
mod request;

use std::io;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use mindful_core::contract::description::HostView;
use mindful_core::contract::metric::{Counter, HostSource, Metric, SampledSource, Sampler};
use mindful_core::record::latency::SampledLatencies;
use mindful_core::{Error, Result};
use mindful_host::device::DeviceNumber;
use mindful_host::{Kernel, cpu};

use self::disks::Disks;
use self::instance::Instance;
use self::journal::Journals;
use self::request::{Line, Pairs, parse};

/// Interval of emptying the buffer. Events do not wake a thread, because that would cost the CPUs that complete
/// requests.
const PAUSE: Duration = Duration::from_millis(50);
/// Interval of adjusting the share of timed requests.
const REVIEW: Duration = Duration::from_secs(1);
/// One of so many at the start, before the rate is known.
const FIRST_ONE_OF: u64 = 64;
/// At most one of so many.
const LAST_ONE_OF: u64 = 4096;
/// Sufficient number of timed requests per second: 10 s of them give a 99th percentile.
const ENOUGH_PER_S: f64 = 500.0;
/// Above it fewer are timed.
const TOO_MANY_PER_S: f64 = 2.0 * ENOUGH_PER_S;

/// Times requests at the disks of the data; `Ok(None)` if no disk is visible.
///
/// # Errors
/// Why requests cannot be timed here.
pub(crate) fn open(kernel: &Kernel, host: &HostView) -> std::result::Result<Option<BlockTrace>, String> {
    let disks = Disks::find(kernel, &host.data_paths, &host.log_paths);
    if disks.is_empty() {
        return Ok(None);
    }
    let journals = Journals::find(kernel, &host.log_paths);
    let instance = Instance::open(kernel, &disks.filter(FIRST_ONE_OF), journals.as_ref())?;
    let journals = journals.filter(|_| instance.follows_journals);
    BlockTrace::start(disks, instance, journals)
        .map(Some)
        .map_err(|error| format!("no thread can be started ({error})"))
}

#[derive(Debug, Default)]
struct TraceState {
    pairs: Pairs,
    log: Vec<DeviceNumber>,
    /// Journals with reported transactions.
    journals: Option<Journals>,
    journal_bytes: u64,
    one_of: u64,
    events: u64,
    lost: u64,
    cpu_us: f64,
    begun: bool,
    fault: Option<String>,
}

/// The sampler; its thread ends, and the instance is removed, when it is dropped.
pub(crate) struct BlockTrace {
    found: Arc<Mutex<TraceState>>,
    source: SampledSource,
    stop: Option<Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl BlockTrace {
    fn start(disks: Disks, instance: Instance, journals: Option<Journals>) -> io::Result<Self> {
        let found = Arc::new(Mutex::new(TraceState {
            log: disks.log.clone(),
            journals,
            one_of: FIRST_ONE_OF,
            ..TraceState::default()
        }));
        let (stop, stopped) = channel();
        let reading =
            TraceReader { disks, instance, found: Arc::clone(&found), torn: Vec::new(), rate: (Instant::now(), 0) };
        let thread = std::thread::Builder::new().name("block-trace".to_owned()).spawn(move || reading.run(&stopped))?;
        let source = SampledSource::new(HostSource::BlockTrace.name(), metrics());
        Ok(Self { found, source, stop: Some(stop), thread: Some(thread) })
    }
}

fn metrics() -> Vec<Metric> {
    vec![
        Metric::counter(Counter::TraceEvents, "1", "events of requests read from the kernel's trace"),
        Metric::counter(Counter::TraceLost, "1", "events lost because its buffer was full"),
        Metric::counter(Counter::TraceCpuUs, "us", "CPU of the thread that reads the trace"),
        Metric::gauge("trace_one_of", "1", "one in this number of requests is timed, chosen by its sector"),
        Metric::counter(
            Counter::LogJournalBytes,
            "bytes",
            "bytes of the transactions that the journal of the log's file system wrote (jbd2)",
        ),
    ]
}

fn held(found: &Mutex<TraceState>) -> MutexGuard<'_, TraceState> {
    found.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Sampler for BlockTrace {
    fn source(&self) -> &SampledSource {
        &self.source
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        let mut found = held(&self.found);
        if let Some(fault) = &found.fault {
            return Err(Error::run(format!("the trace of requests broke off: {fault}"), "run again"));
        }
        found.begun = true;
        let journal = found.journals.as_ref().map(|_| found.journal_bytes as f64);
        let known = [found.events as f64, found.lost as f64, found.cpu_us, found.one_of as f64];
        Ok(known.into_iter().map(Some).chain([journal]).collect())
    }

    fn latencies(&mut self) -> Option<SampledLatencies> {
        let mut found = held(&self.found);
        let drained = found.pairs.timed.iter_mut().map(|(kind, recorder)| (kind.name().to_owned(), recorder.drain()));
        let kinds = drained.filter(|(_, latency)| latency.count() > 0).collect();
        Some(SampledLatencies { one_of: found.one_of, kinds })
    }
}

impl Drop for BlockTrace {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

struct TraceReader {
    disks: Disks,
    instance: Instance,
    found: Arc<Mutex<TraceState>>,
    /// The beginning of a line that is not complete yet.
    torn: Vec<u8>,
    /// Begin of the time for the rate, and the events until then.
    rate: (Instant, u64),
}

impl TraceReader {
    fn run(mut self, stopped: &Receiver<()>) {
        let mut buffer = vec![0; 64 << 10];
        let (mut begun, mut settled) = (false, false);
        while stopped.recv_timeout(PAUSE) == Err(RecvTimeoutError::Timeout) {
            let outcome = self.drain(&mut buffer).and_then(|()| {
                // The share must fit the rate of the measured work.
                if !std::mem::replace(&mut begun, held(&self.found).begun) && begun {
                    self.rate = (Instant::now(), held(&self.found).events);
                }
                if self.rate.0.elapsed() < REVIEW {
                    return Ok(());
                }
                let first = begun && !std::mem::replace(&mut settled, begun);
                self.review(first)
            });
            if let Err(error) = outcome {
                held(&self.found).fault = Some(error.to_string());
                return;
            }
        }
    }

    fn drain(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        while let Some(piece) = self.instance.read(buffer)? {
            let mut found = held(&self.found);
            self.torn.extend_from_slice(piece);
            let whole = self.torn.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
            for line in String::from_utf8_lossy(&self.torn[..whole]).lines() {
                found.take(line);
            }
            self.torn.drain(..whole);
        }
        held(&self.found).cpu_us = cpu::of_thread().as_secs_f64() * 1e6;
        Ok(())
    }

    /// Reduces the share of timed requests if they are too many, and at the first review sets it to the sufficient
    /// number. Latencies of this slice with another share are discarded.
    fn review(&mut self, first: bool) -> io::Result<()> {
        let (events, one_of) = {
            let found = held(&self.found);
            (found.events, found.one_of)
        };
        // Two events are one request.
        let per_s = (events - self.rate.1) as f64 / 2.0 / self.rate.0.elapsed().as_secs_f64();
        self.rate = (Instant::now(), events);
        let wanted = fitting(per_s, one_of, first);
        if wanted != one_of {
            self.instance.filter(&self.disks.filter(wanted))?;
            let mut found = held(&self.found);
            found.one_of = wanted;
            found.pairs.restart();
        }
        Ok(())
    }
}

impl TraceState {
    fn take(&mut self, line: &str) {
        match parse(line) {
            Some(Line::Request(request)) => match request.flushed_disk() {
                // Flushes have no sector to choose by: all are timed, and the share of others does not depend on them.
                Some(disk) if self.log.contains(&disk) => self.pairs.add(request),
                Some(_) => {}
                None => {
                    self.events += 1;
                    self.pairs.add(request);
                }
            },
            Some(Line::Lost(events)) => self.lost += events,
            None => {
                let logged = self.journals.as_ref().and_then(|journals| journals.logged_bytes(line));
                self.journal_bytes += logged.unwrap_or(0);
            }
        }
    }
}

/// The new denominator of the share of timed requests, if a share of 1 in `one_of` gives `per_s`; it decreases only at
/// the `first` review.
fn fitting(per_s: f64, one_of: u64, first: bool) -> u64 {
    if per_s <= TOO_MANY_PER_S && !first {
        return one_of;
    }
    let all_per_s = per_s * one_of as f64;
    let needed = (all_per_s / ENOUGH_PER_S).ceil().max(1.0) as u64;
    needed.next_power_of_two().min(LAST_ONE_OF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_requests_are_timed_as_are_enough_and_never_too_many() {
        // 60,000 a second, at a share of 1 in 64.
        let one_of = fitting(60_000.0 / 64.0, FIRST_ONE_OF, true);
        assert_eq!(one_of, 128);
        assert_eq!(fitting(60_000.0 / 128.0, one_of, false), one_of);
        assert_eq!(fitting(1.5, FIRST_ONE_OF, true), 1, "a disk of 100 requests a second is timed whole");
        assert_eq!(fitting(1.5, FIRST_ONE_OF, false), FIRST_ONE_OF, "but the share never becomes finer later");
        assert!(fitting(1e6, 1, false) >= 1024);
    }
}
