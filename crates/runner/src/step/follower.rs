//! Follows a step while it runs: keeps its record, and ends it when it is steady if the plan requires that.
//!
//! The follower is between the step and the recording, and passes all events on. After each slice that all sessions
//! have completed it may judge the step. The intervals grow, because each check may also end a step by chance
//! (`steady::settling::Looks`). A step ends at a boundary ahead of all sessions, so that their windows are equal.

use std::sync::Arc;
use std::time::Duration;

use mindful_analyze::checks;
use mindful_analyze::judgement::headline;
use mindful_analyze::steady::Assessment;
use mindful_analyze::steady::settling::{Looks, at_cap, settled};
use mindful_core::contract::clock::Clock;
use mindful_core::contract::event::{Event, Events, emit_note};
use mindful_core::record::run::StepRecord;
use mindful_core::result::finding::codes;
use mindful_core::result::{Finding, Severity};
use parking_lot::Mutex;

use crate::step::boundaries::{self, EarlyStop, SLICE_US};

/// Least distance of the common end boundary, in addition to the slices that sessions may begin early, us.
const AHEAD_US: i64 = 500_000;

pub(crate) struct StepFollower {
    events: Arc<dyn Events>,
    clock: Arc<dyn Clock>,
    /// Criteria to end the step when it is steady; `None` to let it continue.
    steady: Option<Steady>,
    state: Mutex<State>,
}

pub(crate) struct Steady {
    pub early_stop: EarlyStop,
    pub least: Duration,
}

#[derive(Default)]
struct State {
    step: Option<StepRecord>,
    /// Number of completed slices of each session.
    done: Vec<u32>,
    looks: Looks,
    found: Option<Assessment>,
}

impl StepFollower {
    pub(crate) fn new(events: Arc<dyn Events>, clock: Arc<dyn Clock>, steady: Option<Steady>) -> Arc<Self> {
        Arc::new(Self { events, clock, steady, state: Mutex::default() })
    }

    /// The recorded step; `None` if no step began.
    pub(crate) fn take(&self) -> Option<StepRecord> {
        self.state.lock().step.take()
    }

    /// For a step that ends when it is steady: records its measured part, and the reasons against it if it reached its
    /// cap.
    pub(crate) fn conclude(&self) {
        let Some(steady) = &self.steady else { return };
        let mut state = self.state.lock();
        let (slices, found) = (state.complete(), state.found.take());
        let Some(step) = &mut state.step else { return };
        let early = found.is_some();
        let found = found.unwrap_or_else(|| at_cap(step, slices, steady.least));
        let against = if early { None } else { against(&found, step.head.step, slices) };
        // A step that does not settle is still measured over its later half at least.
        let first = (found.warmup_s as u32).min(slices / 2);
        let last = (found.end_s as u32).min(slices);
        step.window = Some((first, last));
        drop(state);
        self.events.emit(Event::Window { first, last });
        if let Some(finding) = against {
            self.events.emit(Event::Finding(finding));
        }
    }
}

/// The finding for a step that reached its cap; `None` if its last check was good.
fn against(found: &Assessment, step: u32, slices: u32) -> Option<Finding> {
    let place = format!("step {}, {slices} s", step + 1);
    match found.reasons.first() {
        Some(reason) => Some(Finding::new(
            codes::NOT_STEADY,
            Severity::Warning,
            "The step did not become steady before --steady-cap, so its mean describes no part of it. Use a longer \
             --steady-cap, or find the cause.",
            format!("{place}: {}", checks::in_words(*reason)),
        )),
        None if found.precise => None,
        None => Some(codes::NOT_PRECISE.finding("The step looks steady, but reached --steady-cap before its mean was precise enough. Use a longer --steady-cap.",
            [Some(place), precision(found), trend(found)].into_iter().flatten().collect::<Vec<String>>().join(", "),
        )),
    }
}

fn precision(found: &Assessment) -> Option<String> {
    found.precision.map(|half| format!("mean known to +-{}", headline::percent(half)))
}

fn trend(found: &Assessment) -> Option<String> {
    found.trend.map(|t| format!("a change of up to {} over the window not excluded", headline::percent(t.bound())))
}

impl State {
    /// Slices that all sessions have completed. A session does not report the slices that its operation outlasts.
    fn complete(&self) -> u32 {
        self.done.iter().copied().min().unwrap_or(0)
    }

    fn take(&mut self, event: Event) {
        match event {
            Event::Step(head) => {
                *self =
                    Self { done: vec![0; head.placements.len()], step: Some(StepRecord::new(head)), ..Self::default() };
            }
            Event::Slice { session, ref report } => {
                if let Some(done) = self.done.get_mut(session as usize) {
                    *done = report.index + 1;
                }
                self.add(event);
            }
            event => self.add(event),
        }
    }

    fn add(&mut self, event: Event) {
        if let Some(step) = &mut self.step {
            // An event out of place is refused when the run is read back; here it is ignored.
            let _ = step.add(event);
        }
    }

    /// Judges if there are enough new slices; returns the end boundary when the step is steady.
    fn judge(&mut self, least: Duration, now_us: i64) -> Option<u32> {
        let complete = self.complete();
        let step = self.step.as_ref().filter(|_| self.found.is_none())?;
        // Counters published after the end of the last slice are not read yet.
        let slices = complete.saturating_sub(1);
        if !self.looks.due(slices as usize) {
            return None;
        }
        let found = settled(step, slices, least);
        if !self.looks.push(slices as usize, &found) {
            return None;
        }
        let begun_us = boundaries::ahead(step.head.placements.len(), true) as i64 * SLICE_US;
        let from_us = now_us + step.clock_offset_us + begun_us + AHEAD_US;
        let boundary = step.boundaries_us.iter().position(|boundary| *boundary >= from_us)?;
        self.found = Some(found);
        Some(boundary as u32)
    }
}

impl Events for StepFollower {
    fn emit(&self, event: Event) {
        self.events.emit(event.clone());
        let slice = matches!(event, Event::Slice { .. });
        let mut state = self.state.lock();
        state.take(event);
        let judged = self
            .steady
            .as_ref()
            .filter(|_| slice)
            .and_then(|steady| Some((steady, state.judge(steady.least, self.clock.now_us())?)));
        drop(state);
        if let Some((steady, boundary)) = judged {
            steady.early_stop.at(boundary);
            emit_note(&*self.events, "the step is steady: it ends");
        }
    }
}
