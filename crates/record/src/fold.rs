//! Puts events together into a run.

use std::collections::HashSet;

use mindful_core::contract::event::Event;
use mindful_core::plan::units::format_counted;
use mindful_core::record::run::{Run, RunHead, StepHead, StepRecord};

use crate::contradictions::Contradictions;

/// A run as far as its events describe it.
pub(crate) struct Fold {
    run: Run,
    targets: Vec<Fold>,
    begun: HashSet<u32>,
    skipped: u64,
    contradictions: Contradictions,
}

impl Fold {
    pub(crate) fn new(head: RunHead) -> Self {
        Self {
            run: Run::new(head),
            targets: Vec::new(),
            begun: HashSet::new(),
            skipped: 0,
            contradictions: Contradictions::default(),
        }
    }

    /// A line of a later version was passed over.
    pub(crate) fn skip(&mut self) {
        self.skipped += 1;
    }

    pub(crate) fn into_run(mut self) -> Run {
        self.run.targets = std::mem::take(&mut self.targets).into_iter().map(Self::into_part).collect();
        self.contradictions.compare_with_settings(&self.run);
        self.into_part()
    }

    /// The run of one target, which has the settings of the whole run.
    pub(crate) fn into_part(mut self) -> Run {
        self.run.findings.extend(self.contradictions.finding());
        if self.skipped > 0 {
            self.run.notes.push(format!(
                "skipped {} of a kind that this version does not know; written by mindful {}",
                format_counted(self.skipped, "line"),
                self.run.head.mindful_version
            ));
        }
        self.run
    }

    /// Adds an event; fails with the reason if it is not allowed at this place.
    pub(crate) fn add(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Head(_) => return Err("a second head".to_owned()),
            Event::Environment { facts } => self.run.environment.extend(facts),
            Event::Described { description, host } => {
                self.run.description = Some(description);
                self.run.host = Some(host);
            }
            Event::Loaded { dataset, load_s } => {
                self.run.dataset = Some(dataset);
                self.run.load_s = load_s;
            }
            Event::Proven { proof } => self.run.proof = Some(proof),
            Event::Shapes { shapes } => self.run.shapes = shapes,
            Event::Step(head) => self.begin_step(head),
            Event::Finding(finding) => self.run.findings.push(finding),
            Event::Note { text } => self.run.notes.push(text),
            Event::Hook(hook) => self.run.hooks.push(hook),
            Event::OnTarget { target, what } => self.add_to_target(target, *what)?,
            Event::Finished { interrupted, error } => {
                self.run.finished = true;
                self.run.interrupted = interrupted;
                self.run.error = error;
            }
            Event::Ready { .. } | Event::Progress { .. } => {}
            Event::Started { .. }
            | Event::Slice { .. }
            | Event::Source { .. }
            | Event::Sample { .. }
            | Event::Latencies { .. }
            | Event::Busiest { .. }
            | Event::Watched(_)
            | Event::Rank(_)
            | Event::Spans(_)
            | Event::MergedSlice(_)
            | Event::Window { .. }
            | Event::StepEnd { .. } => return self.add_to_step(event),
        }
        Ok(())
    }

    /// A step that restarts after an interruption replaces its unfinished record, and the run continues.
    fn begin_step(&mut self, head: StepHead) {
        if !self.begun.insert(head.step) {
            self.run.steps.retain(|step| step.head.step != head.step);
        }
        self.run.finished = false;
        self.run.interrupted = false;
        self.run.error = None;
        self.run.steps.push(StepRecord::new(head));
    }

    /// Targets begin in their order, each with the head of its run; targets cannot be nested.
    fn add_to_target(&mut self, target: u32, what: Event) -> Result<(), String> {
        let known = self.targets.len();
        match (what, self.targets.get_mut(target as usize)) {
            (Event::Head(head), None) if target as usize == known => self.targets.push(Self::new(head)),
            (Event::OnTarget { .. }, _) => return Err(format!("target {target} within a target")),
            (what, Some(fold)) => fold.add(what)?,
            (_, None) => return Err(format!("it belongs to target {target}, which did not introduce itself")),
        }
        Ok(())
    }

    fn add_to_step(&mut self, event: Event) -> Result<(), String> {
        let step = self.run.steps.last_mut().ok_or("it belongs to a step, and no step has begun")?;
        // Another tool's counts and times may differ.
        match &event {
            Event::Slice { report, .. } if step.head.workload.is_some() => {
                self.contradictions.look_at(step.head.step, report);
            }
            Event::MergedSlice(slice) => self.contradictions.look_at(step.head.step, &slice.report),
            _ => {}
        }
        step.add(event)
    }
}
