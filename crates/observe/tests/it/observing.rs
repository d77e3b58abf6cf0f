//! The sampling loop, with samplers that give known answers.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use mindful_core::contract::clock::HostClock;
use mindful_core::contract::clock::now_us;
use mindful_core::contract::event::{Event, Events};
use mindful_core::contract::metric::{Metric, Phase, SampledSource, Sampler, Scope};
use mindful_core::{Error, Result};
use mindful_observe::{Boundaries, Observer, Sources};

#[derive(Default)]
struct Kept(Mutex<Vec<Event>>);

impl Events for Kept {
    fn emit(&self, event: Event) {
        self.0.lock().expect("no test panics while it holds the lock").push(event);
    }
}

impl Kept {
    /// `(source, boundary, at_us, values)` of every sample, in the order they came.
    fn samples(&self) -> Vec<(String, u32, i64, Vec<Option<f64>>)> {
        let events = self.0.lock().expect("no test panics while it holds the lock");
        let samples = events.iter().filter_map(|event| match event {
            Event::Sample { source, boundary, at_us, values, .. } => {
                Some((source.clone(), *boundary, *at_us, values.clone()))
            }
            _ => None,
        });
        samples.collect()
    }

    /// The first values of the samples of `name`.
    fn values(&self, name: &str) -> Vec<Option<f64>> {
        self.samples().iter().filter(|sample| sample.0 == name).map(|sample| sample.3[0]).collect()
    }

    fn findings(&self, code: &str) -> Vec<String> {
        let events = self.0.lock().expect("no test panics while it holds the lock");
        let findings = events.iter().filter_map(|event| match event {
            Event::Finding(finding) if finding.code == code => Some(finding.evidence.clone()),
            _ => None,
        });
        findings.collect()
    }
}

/// Counts its readings; fails or is slow on request.
struct Counting {
    source: SampledSource,
    readings: u32,
    fails_from: u32,
    takes: Duration,
    begun: Arc<AtomicBool>,
    panics: bool,
}

impl Counting {
    fn new(name: &'static str, phase: Phase) -> Self {
        let metrics = vec![Metric::counter("readings", "1", "readings so far")];
        let (takes, begun) = (Duration::ZERO, Arc::default());
        let source = SampledSource::new(name, metrics).with(Scope::Host, phase);
        Self { source, readings: 0, fails_from: u32::MAX, takes, begun, panics: false }
    }
}

impl Sampler for Counting {
    fn source(&self) -> &SampledSource {
        &self.source
    }

    fn read(&mut self) -> Result<Vec<Option<f64>>> {
        assert!(!self.panics, "as asked");
        self.begun.store(true, Ordering::SeqCst);
        std::thread::sleep(self.takes);
        self.readings += 1;
        if self.readings >= self.fails_from {
            return Err(Error::run("gone", "bring it back"));
        }
        Ok(vec![Some(f64::from(self.readings))])
    }
}

fn at_and_after() -> Vec<Counting> {
    vec![Counting::new("at", Phase::Boundary), Counting::new("after", Phase::Settled)]
}

const SLICE_US: i64 = 100_000;
/// Longer than a busy host delays a reading: no boundary is missed.
const LONG_US: i64 = 6 * SLICE_US;
/// An engine with a clock an hour ahead.
const OFFSET_US: i64 = 3_600_000_000;

fn boundaries(slices: i64) -> Vec<i64> {
    boundaries_of(SLICE_US, slices)
}

fn observe(samplers: Vec<Counting>, boundaries_us: Vec<i64>) -> (Observer, Arc<Kept>) {
    observe_at(samplers, Boundaries::Fixed(boundaries_us))
}

fn boundaries_of(slice_us: i64, slices: i64) -> Vec<i64> {
    let start = now_us() + OFFSET_US + 50_000;
    (0..=slices).map(|boundary| start + boundary * slice_us).collect()
}

fn observe_at(samplers: Vec<Counting>, boundaries: Boundaries) -> (Observer, Arc<Kept>) {
    let kept = Arc::new(Kept::default());
    let samplers = samplers.into_iter().map(|sampler| Box::new(sampler) as Box<dyn Sampler>).collect();
    let sources = Sources { samplers, ..Sources::default() };
    let observer = Observer::start(sources, boundaries, OFFSET_US, kept.clone(), Arc::new(HostClock));
    (observer.expect("a thread can be started"), kept)
}

#[test]
fn every_boundary_is_read_once_and_settled_sources_later() {
    let due = boundaries_of(LONG_US, 4);
    let (observer, kept) = observe(at_and_after(), due.clone());
    observer.finish();
    let samples = kept.samples();
    for (name, last_us) in [("at", 0), ("after", 300_000)] {
        let of: Vec<_> = samples.iter().filter(|sample| sample.0 == name).collect();
        assert_eq!(of.iter().map(|sample| sample.1).collect::<Vec<_>>(), [0, 1, 2, 3, 4], "{name}");
        for (sample, boundary) in of.iter().zip(&due) {
            let planned = match name {
                "at" => *boundary,
                _ if sample.1 == 4 => boundary + last_us,
                _ => boundary + LONG_US / 2,
            };
            assert!(sample.2 >= planned - OFFSET_US, "{name} was read before its time");
            assert_eq!(sample.3, [Some(f64::from(sample.1 + 1))]);
        }
    }
}

#[test]
fn sources_introduce_themselves_before_anything_is_read() {
    let (observer, kept) = observe(at_and_after(), boundaries(0));
    observer.finish();
    let events = kept.0.lock().unwrap();
    let sources: Vec<_> = events
        .iter()
        .map_while(|event| match event {
            Event::Source { source, phase, .. } => Some((source.as_str(), *phase)),
            _ => None,
        })
        .collect();
    assert_eq!(sources, [("at", Phase::Boundary), ("after", Phase::Settled)]);
}

#[test]
fn a_source_that_fails_is_reported_once_then_unknown() {
    let failing = Counting { fails_from: 3, ..Counting::new("failing", Phase::Boundary) };
    let (observer, kept) = observe(vec![failing, Counting::new("well", Phase::Boundary)], boundaries_of(LONG_US, 4));
    observer.finish();
    assert_eq!(kept.values("failing"), [Some(1.0), Some(2.0), None, None, None]);
    assert_eq!(kept.values("well"), [1.0, 2.0, 3.0, 4.0, 5.0].map(Some));
    assert_eq!(kept.findings("sampler-failed"), ["gone: bring it back"]);
}

#[test]
fn a_source_that_panics_silences_no_other() {
    let panicking = Counting { panics: true, ..Counting::new("panicking", Phase::Boundary) };
    let (observer, kept) = observe(vec![panicking, Counting::new("well", Phase::Boundary)], boundaries_of(LONG_US, 1));
    observer.finish();
    assert_eq!(kept.values("well"), [Some(1.0), Some(2.0)]);
    assert_eq!(kept.findings("sampler-failed"), ["its reader panicked"]);
}

#[test]
fn a_late_reading_shows_when_and_a_missed_one_is_unknown() {
    let slow = |phase| Counting { takes: Duration::from_millis(250), ..Counting::new("slow", phase) };
    let due = boundaries(1);
    let (observer, kept) = observe(vec![slow(Phase::Boundary)], due.clone());
    observer.finish();
    let second = &kept.samples()[1];
    assert!(second.2 - (due[1] - OFFSET_US) > SLICE_US, "the second reading came late and must say so");
    let (observer, kept) = observe(vec![slow(Phase::Settled), Counting::new("after", Phase::Settled)], boundaries(1));
    observer.finish();
    assert_eq!(kept.values("after"), [None, Some(1.0)], "a value read after the next boundary belongs to that one");
}

#[test]
fn a_server_that_answers_late_makes_no_other_late() {
    let server = Counting { takes: Duration::from_secs(2), ..Counting::new("server", Phase::Settled) };
    let due = boundaries_of(LONG_US, 3);
    let (observer, kept) = observe(vec![server, Counting::new("host", Phase::Boundary)], due.clone());
    observer.finish();
    let host: Vec<_> = kept.samples().into_iter().filter(|sample| sample.0 == "host").collect();
    let late_us = host.iter().zip(&due).map(|(sample, due)| sample.2 - (due - OFFSET_US)).max().unwrap();
    assert!(host.len() == 4 && late_us < LONG_US, "{late_us} us late");
}

#[test]
fn published_counters_are_read_last_however_late() {
    let (observer, kept) = observe(at_and_after(), boundaries(1));
    // Far beyond the last boundary and the time that sessions usually take to publish.
    std::thread::sleep(Duration::from_secs(1));
    let done_us = now_us();
    observer.finish();
    let samples = kept.samples();
    let last = |name: &str| samples.iter().find(|sample| sample.0 == name && sample.1 == 1).unwrap();
    assert!(last("at").2 < done_us, "what is always current is read at the boundary");
    assert!(last("after").2 >= done_us);
}

#[test]
fn endless_boundaries_end_at_the_first_after_the_work() {
    let every = Boundaries::Every { start_us: now_us() + OFFSET_US, period_us: SLICE_US };
    let (observer, kept) = observe_at(at_and_after(), every.clone());
    std::thread::sleep(Duration::from_millis(230));
    let ended = now_us() + OFFSET_US;
    observer.finish();
    let samples = kept.samples();
    let last = samples.iter().map(|sample| sample.1).max().unwrap();
    assert!(every.at(last).unwrap() >= ended, "the last boundary closes the work");
    assert!(every.at(last - 1).unwrap() < ended, "no boundary follows the one that closes it");
    assert_eq!(samples.iter().filter(|sample| sample.1 == last).count(), 2);
}

#[test]
fn work_that_is_done_early_is_closed_at_the_next_boundary() {
    let due = boundaries(1_000);
    let (observer, kept) = observe(vec![Counting::new("at", Phase::Boundary)], due.clone());
    std::thread::sleep(Duration::from_millis(130));
    let ended = now_us() + OFFSET_US;
    observer.close();
    let last = kept.samples().last().unwrap().1 as usize;
    assert!(due[last] >= ended && due[last - 1] < ended, "boundary {last} closes the work");
}

#[test]
fn stop_ends_a_long_watch_at_once() {
    let (observer, kept) = observe(vec![Counting::new("at", Phase::Boundary)], boundaries(1_000));
    std::thread::sleep(Duration::from_millis(120));
    let begun = Instant::now();
    observer.stop();
    assert!(begun.elapsed() < Duration::from_secs(20), "of a watch of 100 s");
    let readings = kept.samples().len();
    std::thread::sleep(Duration::from_millis(250));
    assert_eq!(kept.samples().len(), readings);
}

#[test]
fn a_reading_that_hangs_is_abandoned_by_name() {
    let begun = Arc::new(AtomicBool::new(false));
    let hanging = Counting {
        takes: Duration::from_secs(20),
        begun: Arc::clone(&begun),
        ..Counting::new("hanging", Phase::Boundary)
    };
    let (observer, kept) = observe(vec![hanging], boundaries(3));
    while !begun.load(Ordering::SeqCst) {
        std::thread::sleep(Duration::from_millis(10));
    }
    observer.stop();
    assert_eq!(kept.findings("sampler-failed"), ["source hanging"]);
}
