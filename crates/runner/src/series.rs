//! Several steps in one run folder, for verbs that measure more than one thing.

use mindful_core::engine::Target;
use mindful_core::event::Event;
use mindful_core::plan::Plan;
use mindful_core::run::Point;
use mindful_core::workload::Workload;
use mindful_core::{Error, Result};

use crate::context::Context;
use crate::hooks::Phase;
use crate::{job, measure};

/// A run folder that takes steps.
pub struct Series<'a> {
    context: &'a Context,
    /// Id of the run folder.
    pub id: String,
    steps: u32,
}

impl<'a> Series<'a> {
    /// Opens the folder; `target` is described in it.
    pub fn begin(context: &'a Context, target: &dyn Target) -> Result<Self> {
        let id = job::record(context, target, target.describe()?)?;
        Ok(Self { context, id, steps: 0 })
    }

    /// Runs the user's hook of `phase`, if there is one.
    pub fn hook(&self, phase: Phase) -> Result<()> {
        self.context.hook(phase, &self.id)
    }

    /// Measures one step. A step that fails or is interrupted ends the series.
    pub fn step(&mut self, target: &dyn Target, plan: &Plan, workload: Workload, point: Point) -> Result<()> {
        target.prepare(&workload, plan.sessions)?;
        let outcome = measure::step(self.context, target, plan, workload, self.steps, point)?;
        self.steps += 1;
        match outcome.error {
            Some(error) => Err(error),
            None if outcome.interrupted => Err(Error::interrupted("interrupted; what was measured is stored")),
            None => Ok(()),
        }
    }

    /// Ends the folder; everything is on storage.
    pub fn end(self, outcome: &Result<()>) -> Result<String> {
        let interrupted = self.context.stop.requested();
        let error = outcome.as_ref().err().map(ToString::to_string);
        self.context.events().emit(Event::Finished { interrupted, error });
        self.context.events().quiet();
        self.context.recording.close()?;
        Ok(self.id)
    }
}
