//! A step: a number of sessions, one workload, one measured window.
//!
//! Each session has a thread. All connect, a few at a time; all rehearse a slice; then all begin at one instant, which
//! is chosen after every session is ready. Time is divided into slices of about a second. The measured window begins
//! and ends on a boundary between two slices, so counters read at the boundaries cover exactly the work in the window.
//!
//! This thread never makes a call that a session could block: it receives messages, checks the clocks and ends hanging
//! operations. First it asks sessions to stop, then it interrupts their operations, and at last it aborts the target. A
//! timeout for each operation was rejected: it would cost two readings of the clock for each operation and measure
//! itself.

use std::sync::Arc;
use std::thread::{self, Scope};
use std::time::Duration;

use mindful_core::contract::clock::Clock;
use mindful_core::contract::event::{Event, Events};
use mindful_core::contract::session::SESSION_THREAD;
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::contract::target::Target;
use mindful_core::record::run::StepHead;
use mindful_core::result::Finding;
use mindful_core::{Error, Result};

use crate::clock_offset::{ClockOffset, WallClock};
use crate::coordination::Coordination;
use crate::step::boundaries::{EarlyStop, SLICE_US};
use crate::step::gate::{Gate, Leaving, Signal};
use crate::step::session::{Mailbox, Message, Shared};

pub(crate) mod boundaries;
pub(crate) mod follower;
mod gate;
mod session;

/// Sessions that connect side by side: enough to hide round trips, too few to overrun a server's backlog.
const CONNECT_AT_A_TIME: u32 = 32;
/// Stack of a session's thread: it drives one connection, no recursion.
const STACK_BYTES: usize = 512 << 10;
/// Time between the release of sessions and their start, without their rehearsal.
const LEAD: Duration = Duration::from_millis(200);
/// Times of a rehearsal that sessions have before their start: they are sent more than one slice.
const REHEARSALS: u32 = 2;
/// Longest wait for a message between two checks of the stop flag.
const LOOK: Duration = Duration::from_millis(50);
/// Time from a stop request to the interrupt of an operation.
const STOP_GRACE: Duration = Duration::from_secs(2);
/// Time from the end of the step to the interrupt of an operation.
const END_GRACE: Duration = Duration::from_mins(1);
/// Time from the first interrupt of operations to the abort of their target.
const INTERRUPT_GRACE: Duration = Duration::from_secs(10);

/// When no session reports for so long beyond the length of a slice, the clock that slices end by may have been set.
const SILENCE: Duration = Duration::from_secs(3);

pub(crate) struct StepOrder<'a> {
    pub target: &'a dyn Target,
    /// The step to run; `warmup_slices` is filled in by the step.
    pub head: StepHead,
    /// Time before the measured window; none for a fixed amount of work.
    pub warmup: Duration,
    /// Length of the window, or time limit of a fixed amount of work.
    pub window: Duration,
    pub early_stop: EarlyStop,
    /// Decides when all processes of the run begin.
    pub coordination: &'a dyn Coordination,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StepOutcome {
    pub error: Option<Error>,
    pub interrupted: bool,
    /// Whether its target was aborted and cannot be used any more.
    pub given_up: bool,
}

pub(crate) trait StepObserver {
    /// Called once before work begins, when the boundaries of all slices are known: on the engine's clock, which is
    /// `clock_offset_us` ahead of this host's.
    fn begins(&mut self, boundaries_us: &[i64], clock_offset_us: i64);
    /// Called once, when the last session has done its work, and before any of them leaves.
    fn worked(&mut self, outcome: &StepOutcome);
}

pub(crate) fn run_step(
    mut order: StepOrder<'_>,
    events: &dyn Events,
    stop: &StopFlag,
    clock: &dyn Clock,
    watch: &mut dyn StepObserver,
) -> Result<StepOutcome> {
    let Some(workload) = order.head.workload.clone() else {
        return Err(Error::plan("the step has no workload: another tool drove it", "give a plan"));
    };
    let clocks = ClockOffset::of(order.target, clock)?;
    order.head.warmup_slices = boundaries::timed(0, order.warmup, Duration::ZERO).1;
    events.emit(Event::Step(order.head.clone()));
    let (gate, halt, mailbox) = (Gate::new(CONNECT_AT_A_TIME, clock), StopFlag::default(), Mailbox::new(clock));
    let shared = Shared {
        target: order.target,
        workload: &workload,
        clock,
        gate: &gate,
        mailbox: &mailbox,
        halt: &halt,
        early_stop: &order.early_stop,
        ahead: boundaries::ahead(order.head.placements.len(), order.head.duration_s.is_none()),
        head: &order.head,
        clock_offset_us: clocks.us,
    };
    let outcome = thread::scope(|scope| {
        let mut running = Step {
            scope,
            order: &order,
            shared: &shared,
            events,
            stop,
            clocks: &clocks,
            wall: WallClock::now(),
            begins: None,
            lead: None,
            heard: Duration::ZERO,
            left: 0,
            asks_clock: false,
            interrupted: None,
            given_up: false,
            error: None,
        };
        running.spawn_sessions();
        let _dismissal = Dismissal(&gate, running.left);
        let outcome = running.drive(watch);
        watch.worked(&outcome);
        outcome
    });
    let whole = outcome.error.is_none() && !outcome.interrupted;
    if let Some(finding) = whole.then(|| clocks.compared_with_now(order.target, clock)).flatten() {
        events.emit(Event::Finding(finding));
    }
    events.emit(Event::StepEnd {
        error: outcome.error.as_ref().map(ToString::to_string),
        interrupted: outcome.interrupted,
    });
    Ok(outcome)
}

/// Lets all sessions leave on drop, on every path.
struct Dismissal<'a>(&'a Gate, usize);

impl Drop for Dismissal<'_> {
    fn drop(&mut self) {
        self.0.dismiss(self.1);
    }
}

struct Step<'scope, 'env> {
    scope: &'scope Scope<'scope, 'env>,
    order: &'scope StepOrder<'scope>,
    shared: &'scope Shared<'scope>,
    events: &'scope dyn Events,
    stop: &'scope StopFlag,
    clocks: &'scope ClockOffset,
    wall: WallClock,
    begins: Option<Duration>,
    /// Time that sessions need to begin; known while they are ready and wait for the decision.
    lead: Option<Duration>,
    /// When a session last reported, or the clocks were last read for lack of a report.
    heard: Duration,
    /// Sessions that have not done their work.
    left: usize,
    /// A thread waits for the reading of the target's clock.
    asks_clock: bool,
    interrupted: Option<Duration>,
    given_up: bool,
    error: Option<Error>,
}

impl Step<'_, '_> {
    /// Starts a thread for each session; started threads are joined.
    fn spawn_sessions(&mut self) {
        let shared = self.shared;
        for (number, placement) in (0..).zip(&self.order.head.placements) {
            let (placement, mut slot) = (*placement, self.shared.clock.new_thread_slot());
            let spawned = thread::Builder::new()
                .name(format!("{SESSION_THREAD}{}", placement.session + 1))
                .stack_size(STACK_BYTES)
                .spawn_scoped(self.scope, move || {
                    slot.enter();
                    let _leaving = Leaving(shared.gate);
                    shared.live(number, placement);
                });
            match spawned {
                Ok(_) => self.left += 1,
                Err(error) => self.fail(Error::run(
                    format!("thread {} of {} did not start: {error}", placement.session + 1, placement.sessions),
                    "raise the limit on processes (ulimit -u), or run fewer --sessions",
                )),
            }
        }
    }

    fn drive(&mut self, watch: &mut dyn StepObserver) -> StepOutcome {
        let of = self.order.head.placements.len() as u32;
        let (mut ready, mut rehearsed) = (0, 0);
        let mut rehearsing = Duration::ZERO;
        let mut deadline: Option<Duration> = None;
        while self.left > 0 || self.asks_clock {
            if self.stop.is_requested() {
                self.call_off();
            }
            if self.begins.is_some() && (self.wall.was_set() || self.is_silent()) {
                self.ask_clock();
            }
            self.check_others();
            if self.shared.halt.is_requested() {
                let latest = self.shared.clock.elapsed() + self.grace();
                deadline = Some(deadline.map_or(latest, |d| d.min(latest)));
            }
            if let Some(last_us) = self.released(watch) {
                deadline = Some(self.shared.clock.elapsed() + self.until(last_us) + END_GRACE);
            }
            match self.shared.mailbox.take(LOOK) {
                Some(Message::Ready) => {
                    ready += 1;
                    self.events.emit(Event::Ready { ready, of });
                    if ready == of && !self.shared.halt.is_requested() {
                        rehearsing = self.shared.clock.elapsed();
                        self.shared.gate.rehearse();
                    }
                }
                Some(Message::Rehearsed) => {
                    rehearsed += 1;
                    if rehearsed == of && !self.shared.halt.is_requested() {
                        let took = self.shared.clock.elapsed().saturating_sub(rehearsing);
                        self.all_ready(LEAD + took * REHEARSALS);
                    }
                }
                Some(Message::Slice(session, report)) => {
                    self.heard = self.shared.clock.elapsed();
                    // An end that no unchanged clock has reached yet shows that a clock was set.
                    let leapt = report.end_us.saturating_sub(self.clocks.us) > self.shared.clock.now_us() + SLICE_US;
                    self.events.emit(Event::Slice { session, report: *report });
                    if leapt && !self.shared.halt.is_requested() {
                        self.ask_clock();
                    }
                }
                Some(Message::Clock(found)) => self.judge_clock(found),
                Some(Message::Done(outcome)) => {
                    self.left -= 1;
                    if let Err(error) = outcome {
                        self.fail(self.order.coordination.at_target(error));
                    } else if self.begins.is_none() {
                        self.call_off();
                    }
                }
                None => {}
            }
            if deadline.is_some_and(|d| self.shared.clock.elapsed() >= d) {
                self.cut_short();
                deadline = Some(self.shared.clock.elapsed() + STOP_GRACE);
            }
        }
        StepOutcome { error: self.error.take(), interrupted: self.stop.is_requested(), given_up: self.given_up }
    }

    /// Interrupts operations, and at last all that anyone still waits for at the target.
    fn cut_short(&mut self) {
        if !self.shared.halt.is_requested() {
            self.fail(Error::run(
                format!("operations continued for {} s after the end of the step", END_GRACE.as_secs()),
                "check what the server waits for (its log, space on its disks, locks) and run again",
            ));
        }
        let now = self.shared.clock.elapsed();
        if now >= *self.interrupted.get_or_insert(now) + INTERRUPT_GRACE {
            self.order.target.abort();
            self.given_up = true;
        } else {
            self.order.target.interrupt();
        }
    }

    /// Time that an operation may continue after a stop request; 0 before the work begins.
    fn grace(&self) -> Duration {
        let works = self.begins.is_some_and(|begins| self.shared.clock.elapsed() >= begins);
        if works { STOP_GRACE } else { Duration::ZERO }
    }

    /// Whether no session has reported for longer than slices take; once for each while of silence.
    fn is_silent(&mut self) -> bool {
        let since = self.heard.max(self.begins.unwrap_or_default());
        let silent = self.shared.clock.elapsed() > since + Duration::from_micros(SLICE_US.unsigned_abs()) + SILENCE;
        if silent {
            self.heard = self.shared.clock.elapsed();
        }
        silent
    }

    /// A clock may have been set. A target that does not answer does not return its time, so a separate thread waits
    /// for it.
    fn ask_clock(&mut self) {
        if self.asks_clock {
            return;
        }
        let (target, clocks, clock, mailbox) = (self.order.target, self.clocks, self.shared.clock, self.shared.mailbox);
        let mut slot = clock.new_thread_slot();
        let ask = move || {
            slot.enter();
            mailbox.put(Message::Clock(clocks.compared_with_now(target, clock)));
        };
        self.asks_clock = thread::Builder::new().name("clock".to_owned()).spawn_scoped(self.scope, ask).is_ok();
    }

    /// If the target's clock was set, its slices no longer end at their boundaries.
    fn judge_clock(&mut self, found: Option<Finding>) {
        self.asks_clock = false;
        if let Some(finding) = found {
            let what = format!("a clock was set during the run: {}", finding.evidence);
            self.events.emit(Event::Finding(finding));
            self.fail(Error::run(what, "let it settle (chronyc tracking) and run again"));
        }
    }

    /// Other processes may work too: without one of them there is no run.
    fn check_others(&mut self) {
        if self.begins.is_some()
            && !self.shared.halt.is_requested()
            && let Err(error) = self.order.coordination.check_others()
        {
            self.fail(error);
        }
    }

    fn all_ready(&mut self, lead: Duration) {
        self.lead = Some(lead);
        if let Err(error) = self.order.coordination.ready(lead) {
            self.fail(error);
        }
    }

    /// Lets sessions that are ready go, once the instant is decided. Returns the last boundary on the host's clock.
    fn released(&mut self, watch: &mut dyn StepObserver) -> Option<i64> {
        let lead = self.lead.filter(|_| !self.shared.halt.is_requested())?;
        let (coordination, now_us) = (self.order.coordination, self.shared.clock.now_us() + self.clocks.us);
        let start = coordination.start(now_us, lead, self.clocks).transpose()?;
        self.lead = None;
        let released = start.and_then(|start_us| {
            let last_us = self.release(start_us, watch);
            let ends = self.order.head.ops.is_none().then(|| self.shared.clock.elapsed() + self.until(last_us));
            coordination.started(start_us, self.clocks, ends).map(|()| last_us)
        });
        released.map_err(|error| self.fail(error)).ok()
    }

    /// Lets all go at the instant when work begins. Returns the last boundary on the host's clock.
    fn release(&mut self, start_us: i64, watch: &mut dyn StepObserver) -> i64 {
        let clock_offset_us = self.clocks.us;
        self.begins = Some(self.shared.clock.elapsed() + self.until(start_us - clock_offset_us));
        let boundaries_us = Arc::new(boundaries::timed(start_us, self.order.warmup, self.order.window).0);
        self.events.emit(Event::Started { boundaries_us: boundaries_us.to_vec(), clock_offset_us });
        watch.begins(&boundaries_us, clock_offset_us);
        let last_us = boundaries_us.last().copied().unwrap_or(start_us) - clock_offset_us;
        self.shared.gate.give(Signal::Go(boundaries_us));
        last_us
    }

    fn until(&self, instant_us: i64) -> Duration {
        Duration::from_micros((instant_us - self.shared.clock.now_us()).max(0).unsigned_abs())
    }

    fn fail(&mut self, error: Error) {
        // After a halt, sessions may fail because they were interrupted: the first error is the cause.
        if !self.shared.halt.is_requested() {
            self.error = Some(error);
        }
        self.call_off();
    }

    fn call_off(&self) {
        self.shared.halt.request();
        self.shared.gate.give(Signal::Abort);
    }
}
