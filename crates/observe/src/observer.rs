//! The sampling loop: sources are read at instants derived from the boundaries of slices. Each phase has a separate
//! thread, so that a slow answer of the server does not delay this host's counters.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mindful_core::contract::clock::{Clock, FOREVER, Notifier};
use mindful_core::contract::event::{Event, Events};
use mindful_core::contract::metric::{Phase, Sampler};
use mindful_core::contract::watch::{Circumstance, Watch};
use mindful_core::record::run::Watched;
use mindful_core::result::finding::codes;
use mindful_core::{Error, Result};
use mindful_host::priority;

use crate::clocks::Clocks;
use crate::schedule::{Boundaries, LAST_SETTLE_US};

/// A sleep is never longer than this, so that it is noticed when the wall clock is set.
const LONGEST_SLEEP: Duration = Duration::from_millis(250);
/// Time after which the observer abandons a hanging reading.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time that an early end waits for a reading in progress.
const STOP_PATIENCE: Duration = Duration::from_secs(1);

#[derive(Default)]
pub struct Sources {
    pub samplers: Vec<Box<dyn Sampler>>,
    pub watches: Vec<Watching>,
}

/// Circumstances that are read along with the counters. Only changes since the previous reading are recorded.
pub struct Watching {
    watch: Box<dyn Watch>,
    known: BTreeMap<String, Option<String>>,
    failed: bool,
}

impl Watching {
    pub fn new(watch: Box<dyn Watch>, before: &[Circumstance]) -> Self {
        let known = before.iter().map(|found| (found.name.clone(), found.value.clone())).collect();
        Self { watch, known, failed: false }
    }

    /// Reads all values; returns those that are new or changed. A value that can no longer be read keeps its last
    /// state.
    fn read_changes(&mut self) -> Result<Vec<Circumstance>> {
        let mut changed = self.watch.read()?;
        changed.retain(|found| {
            self.known.get(&found.name).is_none_or(|known| found.value.is_some() && *known != found.value)
        });
        self.known.extend(changed.iter().map(|found| (found.name.clone(), found.value.clone())));
        Ok(changed)
    }
}

/// Reads samplers on separate threads until the last boundary, or until a stop request.
pub struct Observer {
    wishes: Arc<Wishes>,
    clock: Arc<dyn Clock>,
    boundaries: Boundaries,
    clock_offset_us: i64,
    events: Arc<dyn Events>,
}

struct Wishes {
    wish: Mutex<Wish>,
    changed: Arc<dyn Notifier>,
}

#[derive(Debug, Default)]
struct Wish {
    stop: bool,
    worked: bool,
    /// Host clock, us: the first boundary from here on is the last.
    close_at_us: Option<i64>,
    reading: Vec<String>,
    /// Loops that have not ended.
    at_work: u32,
}

impl Wishes {
    fn lock(&self) -> MutexGuard<'_, Wish> {
        self.wish.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn change(&self, change: impl FnOnce(&mut Wish)) {
        change(&mut self.lock());
        self.changed.notify();
    }
}

impl Observer {
    /// Introduces every sampler with [`Event::Source`], then reads them at the boundaries (engine clock) until the last.
    /// `clock_offset_us` is the engine's clock minus this host's. Each reading is one [`Event::Sample`].
    pub fn start(
        Sources { samplers, watches }: Sources,
        boundaries: Boundaries,
        clock_offset_us: i64,
        events: Arc<dyn Events>,
        clock: Arc<dyn Clock>,
    ) -> Result<Self> {
        for sampler in &samplers {
            events.emit(Event::Source {
                source: sampler.name().to_owned(),
                metrics: sampler.metrics().to_vec(),
                phase: sampler.source().phase,
            });
        }
        let wishes = Arc::new(Wishes { wish: Mutex::default(), changed: clock.new_notifier() });
        let (current, settled): (Vec<_>, Vec<_>) = samplers
            .into_iter()
            .map(|sampler| Source { sampler, failed: false })
            .partition(|source| source.sampler.source().phase == Phase::Boundary);
        let (watches, settled_watches): (Vec<_>, Vec<_>) =
            watches.into_iter().partition(|watching| watching.watch.phase() == Phase::Boundary);
        for (phase, sources, watches) in
            [(Phase::Boundary, current, watches), (Phase::Settled, settled, settled_watches)]
        {
            let sampling = Sampling {
                phase,
                sources,
                watches,
                boundaries: boundaries.clone(),
                clock_offset_us,
                wishes: wishes.clone(),
                events: events.clone(),
                clocks: Clocks::now(),
                first: Some(Clocks::now()),
                clock: Arc::clone(&clock),
            };
            sampling.start()?;
        }
        Ok(Self { wishes, clock, boundaries, clock_offset_us, events })
    }

    /// Waits until the last boundary has been read, after the work is done. Counters that sessions publish are read
    /// last after this call, for any length of their last operations. A reading that hangs for ten seconds is abandoned
    /// and reported as a finding. If boundaries have no end, this is [`Observer::close`].
    pub fn finish(self) {
        if self.boundaries.endless() {
            return self.close();
        }
        self.wishes.change(|wish| wish.worked = true);
        self.wait_for_boundary(i64::MAX);
    }

    /// Waits until the first boundary from now on has been read: the work is done before the boundaries are.
    pub fn close(self) {
        let now = self.clock.now_us();
        self.wishes.change(|wish| (wish.worked, wish.close_at_us) = (true, Some(now)));
        self.wait_for_boundary(now);
    }

    /// Ends now, without the readings that are still to come.
    pub fn stop(self) {
        self.wishes.change(|wish| wish.stop = true);
        self.wait(STOP_PATIENCE);
    }

    /// Waits for the readings of the first boundary at or after `host_us`, or of the last there is.
    fn wait_for_boundary(&self, host_us: i64) {
        let closing = self.boundaries.closing(host_us.saturating_add(self.clock_offset_us));
        let left_us = closing.map_or(0, |at| at - self.clock_offset_us + LAST_SETTLE_US - self.clock.now_us());
        self.wait(Duration::from_micros(left_us.max(0).unsigned_abs()) + PATIENCE);
    }

    fn wait(&self, patience: Duration) {
        self.wishes.changed.wait(patience, &mut || self.wishes.lock().at_work > 0);
        if self.wishes.lock().at_work > 0 {
            let reading = self.wishes.lock().reading.join(", ");
            self.events.emit(Event::Finding(codes::SAMPLER_FAILED.finding(
                "A reading did not return and was abandoned: its figures are missing.",
                format!("source {reading}"),
            )));
        }
    }
}

impl Drop for Observer {
    fn drop(&mut self) {
        self.wishes.change(|wish| wish.stop = true);
    }
}

struct Source {
    sampler: Box<dyn Sampler>,
    failed: bool,
}

struct Sampling {
    phase: Phase,
    sources: Vec<Source>,
    watches: Vec<Watching>,
    boundaries: Boundaries,
    clock_offset_us: i64,
    wishes: Arc<Wishes>,
    events: Arc<dyn Events>,
    clocks: Clocks,
    /// The clocks at the start of the comparison of their speeds; `None` once a difference was reported.
    first: Option<Clocks>,
    clock: Arc<dyn Clock>,
}

/// Reports the end of a loop on every path.
struct Ending(Arc<Wishes>);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.change(|wish| wish.at_work -= 1);
    }
}

impl Sampling {
    fn start(self) -> Result<()> {
        let mut slot = self.clock.new_thread_slot();
        self.wishes.lock().at_work += 1;
        let ending = Ending(Arc::clone(&self.wishes));
        let started = std::thread::Builder::new().name("observer".to_owned()).spawn(move || {
            slot.enter();
            let _ending = ending;
            if !self.clock.is_simulated() {
                priority::go_first();
            }
            self.run();
        });
        started.map(drop).map_err(|error| {
            Error::run(format!("cannot start a sampling thread ({error})"), "raise the limit of threads (ulimit -u)")
        })
    }

    fn run(mut self) {
        let mut boundary = 0;
        while let Some(at) = self.host_time(self.boundaries.at(boundary)) {
            if !self.wait_until(at) {
                return;
            }
            let next = self.host_time(self.boundaries.at(boundary + 1));
            let last = next.is_none() || self.wishes.lock().close_at_us.is_some_and(|close| close <= at);
            match self.phase {
                Phase::Boundary => self.read(boundary, None),
                Phase::Settled => {
                    let settled = self.host_time(self.boundaries.settled_at(boundary, last));
                    if !settled.is_some_and(|settled| self.wait_until(settled)) || last && !self.wait_for_work() {
                        return;
                    }
                    self.read(boundary, next.filter(|_| !last));
                }
            }
            if last {
                return;
            }
            boundary += 1;
        }
    }

    fn host_time(&self, engine_us: Option<i64>) -> Option<i64> {
        engine_us.map(|at| at - self.clock_offset_us)
    }

    /// Sleeps until `instant_us` of the host's clock; false after a stop request.
    fn wait_until(&mut self, instant_us: i64) -> bool {
        loop {
            if self.wishes.lock().stop {
                return false;
            }
            let left = instant_us - self.clock.now_us();
            if left <= 0 {
                break;
            }
            let sleep = Duration::from_micros(left.unsigned_abs()).min(LONGEST_SLEEP);
            self.wishes.changed.wait(sleep, &mut || !self.wishes.lock().stop);
            self.check_clock();
        }
        true
    }

    /// Waits until the work is done; false after a stop request.
    fn wait_for_work(&self) -> bool {
        let undone = |wish: &Wish| !wish.worked && !wish.stop;
        self.wishes.changed.wait(FOREVER, &mut || undone(&self.wishes.lock()));
        !self.wishes.lock().stop
    }

    fn check_clock(&mut self) {
        // Simulated time is never set, and one of the threads is enough to find out.
        if self.clock.is_simulated() || self.phase != Phase::Boundary {
            return;
        }
        if let Some(step_us) = self.clocks.step_us() {
            self.events.emit(Event::Finding(codes::CLOCK_STEP.finding(
                "The wall clock of this host was set during the run: rates around that moment are wrong. \
                 Let it settle (chronyc tracking) and run again.",
                format!("it moved {:.1} ms against the monotonic clock", step_us as f64 / 1000.0),
            )));
            self.first = self.first.map(|_| Clocks::now());
        } else if let Some((clock, share)) = self.first.and_then(|first| first.slew(&self.clocks)) {
            self.first = None;
            let (speed, percent) = (if share > 0.0 { "fast" } else { "slow" }, 100.0 * share.abs());
            self.events.emit(Event::Finding(codes::CLOCK_RATE.finding(
                "A clock of this host runs at the wrong speed, so every rate and time is off by as much. Let it settle \
                 (chronyc tracking, adjtimex), and run again.",
                format!("the {clock} clock runs {percent:.1} % too {speed} against the raw hardware clock"),
            )));
        }
    }

    /// Reads every source. A settled source's values after `expires_us` belong to another boundary and are unknown.
    fn read(&mut self, boundary: u32, expires_us: Option<i64>) {
        for source in &mut self.sources {
            let name = source.sampler.name().to_owned();
            self.wishes.lock().reading.push(name.clone());
            let (at_us, begun) = (self.clock.now_us(), self.clock.elapsed());
            let expired = expires_us.is_some_and(|expires| at_us >= expires);
            let values = if expired { source.unknown() } else { source.read(&*self.events) };
            let latencies = if source.failed { None } else { source.sampler.latencies() };
            let busiest = if source.failed { Vec::new() } else { source.sampler.busiest() };
            self.wishes.lock().reading.retain(|reading| *reading != name);
            let cost_us = u64::try_from(self.clock.elapsed().saturating_sub(begun).as_micros()).unwrap_or(u64::MAX);
            self.events.emit(Event::Sample { source: name.clone(), boundary, at_us, cost_us, values });
            if let Some(sampled) = latencies {
                self.events.emit(Event::Latencies { source: name.clone(), boundary, sampled });
            }
            if !busiest.is_empty() {
                self.events.emit(Event::Busiest { source: name, boundary, processes: busiest });
            }
        }
        self.read_circumstances(boundary);
    }

    /// Read after the counters, so that these are not late.
    fn read_circumstances(&mut self, boundary: u32) {
        for watching in self.watches.iter_mut().filter(|watching| !watching.failed) {
            let source = watching.watch.name().to_owned();
            self.wishes.lock().reading.push(source.clone());
            let found = watching.read_changes();
            self.wishes.lock().reading.retain(|reading| *reading != source);
            let (at_us, phase) = (self.clock.now_us(), self.phase);
            match found {
                Ok(values) if values.is_empty() => {}
                Ok(values) => {
                    let boundary = Some(boundary);
                    self.events.emit(Event::Watched(Watched { source, boundary, phase, at_us, values }));
                }
                Err(error) => {
                    watching.failed = true;
                    let text = format!(
                        "Settings and limits of {source} can no longer be read, so a change from then on is unknown."
                    );
                    self.events.emit(Event::Finding(codes::SAMPLER_FAILED.finding(text, error.to_string())));
                }
            }
        }
    }
}

impl Source {
    fn unknown(&self) -> Vec<Option<f64>> {
        vec![None; self.sampler.metrics().len()]
    }

    /// The values; a source that failed once is not read again.
    fn read(&mut self, events: &dyn Events) -> Vec<Option<f64>> {
        if self.failed {
            return self.unknown();
        }
        let expected = self.sampler.metrics().len();
        // A source that panics must not silence the others.
        let error = match catch_unwind(AssertUnwindSafe(|| self.sampler.read())) {
            Ok(Ok(values)) if values.len() == expected => return values,
            Ok(Ok(values)) => format!("{} values instead of {expected}", values.len()),
            Ok(Err(error)) => error.to_string(),
            Err(_) => "its reader panicked".to_owned(),
        };
        self.failed = true;
        events.emit(Event::Finding(codes::SAMPLER_FAILED.finding(
            format!("The source {} can no longer be read: its figures are unknown from then on.", self.sampler.name()),
            error,
        )));
        self.unknown()
    }
}
