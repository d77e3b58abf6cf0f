//! A sweep in progress: within its budget, and reported after each step.

use std::time::Duration;

use mindful_core::Result;
use mindful_core::contract::Resolved;
use mindful_core::contract::event::{Event, Events as _, emit_note};
use mindful_core::plan::units::format_rounded;
use mindful_core::record::run::{Run, values_in_words};
use mindful_core::result::StepSummary;
use mindful_core::result::finding::codes;

use crate::context::{Context, refuse_what_it_cannot};
use crate::recording::Recording;
use crate::source::{NextStep, StepSource, System};
use crate::sources::sweep::{Next, Sweep};

pub struct Walk<'a> {
    sweep: &'a Sweep,
    context: &'a Context,
    began: Duration,
    /// Time of the steps that an earlier call finished.
    spent_before: Duration,
    /// Time of the longest step of this call.
    longest: Option<Duration>,
    handed_out: Option<Duration>,
    done: Vec<StepSummary>,
}

impl<'a> Walk<'a> {
    pub fn new(sweep: &'a Sweep, context: &'a Context) -> Self {
        let (spent_before, longest, handed_out) = (Duration::ZERO, None, None);
        Self { sweep, context, began: context.clock.elapsed(), spent_before, longest, handed_out, done: Vec::new() }
    }

    /// The rest of the sweep after the steps of `run`; unfinished ones are repeated.
    pub fn resumed(sweep: &'a Sweep, context: &'a Context, run: &Run) -> Self {
        let mut finished = run.clone();
        finished.steps.retain(mindful_core::record::run::StepRecord::finished);
        let done = mindful_analyze::analyze(&finished).summary.steps;
        Self { spent_before: spent(run, sweep.step_cost()), done, ..Self::new(sweep, context) }
    }

    fn since(&self, instant: Duration) -> Duration {
        self.context.clock.elapsed().saturating_sub(instant)
    }

    /// Remaining time of the budget; `None` without one.
    fn left(&self) -> Option<Duration> {
        Some(self.sweep.budget()?.saturating_sub(self.spent_before + self.since(self.began)))
    }

    /// Steps that the budget still holds, by the longest so far.
    fn steps_left(&self) -> Option<u32> {
        Some((self.left()?.as_secs_f64() / self.longest.unwrap_or(self.sweep.step_cost()).as_secs_f64()) as u32)
    }

    fn begin(&self, recording: &Recording) {
        if self.done.is_empty() {
            recording.tell(&self.sweep.estimate().to_string());
        }
        self.sweep.left_out().into_iter().for_each(|text| emit_note(recording, text));
    }

    /// The last step, the time left and the curve so far.
    fn tell(&self, recording: &Recording) {
        let Some(last) = self.done.last() else { return };
        let rate = |step: &StepSummary| step.blocks_visited_per_s.map_or_else(|| "-".to_owned(), format_rounded);
        let alike = |step: &&StepSummary| step.point.without_sessions() == last.point.without_sessions();
        let mut steps: Vec<&StepSummary> = self.done.iter().filter(alike).collect();
        steps.sort_by_key(|step| step.sessions);
        let curve: Vec<_> =
            steps.iter().map(|step| format!("{}: {}", step.sessions.unwrap_or_default(), rate(step))).collect();
        let left = self.left().map_or_else(String::new, |left| format!("; at most {} s left", left.as_secs()));
        let text = format!(
            "step {} ({}): {} blocks/s after {} s{left}; blocks/s by sessions so far: {}",
            self.done.len(),
            values_in_words(&last.point.values),
            rate(last),
            self.since(self.began).as_secs(),
            curve.join("  ")
        );
        recording.tell(&text);
    }
}

impl StepSource for Walk<'_> {
    fn next(&mut self, finished: Option<&StepSummary>, recording: &Recording) -> Result<Option<NextStep>> {
        match finished {
            Some(step) => self.done.push(step.clone()),
            None => self.begin(recording),
        }
        let handed_out = self.handed_out.take();
        self.longest = self.longest.max(handed_out.map(|began| self.since(began)));
        self.tell(recording);
        let point = match self.sweep.next(&self.done, self.steps_left()) {
            Next::Step(point) => point,
            Next::Over(words) => {
                emit_note(recording, words);
                return Ok(None);
            }
            Next::Undecided(why) => {
                let text = "The search has no answer because there were too few operations for the percentile. Use a \
                            longer --duration or a lower percentile.";
                recording.emit(Event::Finding(codes::OBJECTIVE_UNDECIDED.finding(text, why)));
                return Ok(None);
            }
        };
        let Resolved { mut plan, options, origins: settings } = self.sweep.resolve(&point)?;
        refuse_what_it_cannot(&mut plan, self.context.engine, &settings)?;
        self.handed_out = Some(self.context.clock.elapsed());
        let system = System { options, settings, ..self.context.system() };
        Ok(Some(NextStep { system, loads: true, plan, point, on_one_cpu: false }))
    }

    fn passes_over(&self) -> bool {
        true
    }

    fn differs(&self) -> bool {
        self.sweep.differs()
    }
}

/// Time of the finished steps of `run` and of its load: from one start to the next, or `step_cost` if there was a pause
/// between them.
fn spent(run: &Run, step_cost: Duration) -> Duration {
    let begins: Vec<i64> =
        run.steps.iter().filter(|s| s.ended).filter_map(|s| s.boundaries_us.first().copied()).collect();
    let between = |pair: &[i64]| {
        Duration::from_micros(u64::try_from(pair[1].saturating_sub(pair[0])).unwrap_or(0)).min(step_cost)
    };
    let last = begins.last().map_or(Duration::ZERO, |_| step_cost);
    let loaded = Duration::try_from_secs_f64(run.load_s.unwrap_or(0.0)).unwrap_or_default();
    begins.windows(2).map(between).fold(loaded.saturating_add(last), Duration::saturating_add)
}
