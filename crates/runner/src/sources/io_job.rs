//! A job on files as a source of steps: points of a matrix, a calibration, or one load on parts of the files in turn.

use std::collections::BTreeMap;

use mindful_analyze::io_job::{LARGE, SMALL, large, small};
use mindful_core::contract::event::emit_note;
use mindful_core::contract::file_read::{FileOption, FileReads, InFlight};
use mindful_core::contract::target::Target;
use mindful_core::dataset::Dataset;
use mindful_core::plan::Plan;
use mindful_core::record::run::Point;
use mindful_core::result::StepSummary;
use mindful_core::{Error, Result};

use crate::context::Context;
use crate::recording::Recording;
use crate::source::{NextStep, StepSource};
use crate::sources::calibration::{Calibration, Outcome};

#[derive(Debug, Clone, PartialEq)]
pub enum Job {
    /// The points of a preset or a matrix.
    Points(Vec<InFlight>),
    /// The search for the most small I/Os per second within a mean latency, us.
    Calibrate { limit_us: f64 },
    /// One load on parts of the files in turn.
    Spans {
        /// As the option `span` takes them.
        spans: Vec<String>,
        /// I/Os of all sessions together.
        in_flight: u32,
    },
}

pub struct IoJob<'a> {
    context: &'a Context,
    reads: &'static dyn FileReads,
    job: &'a Job,
    taken: usize,
    calibration: Calibration,
    load: InFlight,
}

impl<'a> IoJob<'a> {
    /// A job from its first step on.
    pub fn new(context: &'a Context, job: &'a Job) -> Result<Self> {
        let reads = context.engine.file_reads();
        let reads = reads
            .ok_or_else(|| Error::plan("a job reads bare files, and the target has none", "pass --target raw:PATH"))?;
        let limit_us = if let Job::Calibrate { limit_us } = job { *limit_us } else { f64::INFINITY };
        let (calibration, load) = (Calibration::new(limit_us), InFlight { small: 0, large: 0 });
        Ok(Self { context, reads, job, taken: 0, calibration, load })
    }

    /// The step with `load` in flight, on a part of the files where one is named.
    fn step(&mut self, load: InFlight, span: Option<&str>) -> Result<NextStep> {
        self.load = load;
        let (own, mut plan) = (self.context.system(), self.context.plan.clone());
        let values = [(SMALL, load.small.to_string()), (LARGE, load.large.to_string())];
        let mut values: BTreeMap<String, String> = values.map(|(key, value)| (key.to_owned(), value)).into();
        let system = if let Some(span) = span {
            // A part is as large as it is.
            plan = Plan { schemas: None, scale: None, ..plan };
            values.insert(FileOption::Span.name().to_owned(), span.to_owned());
            own.with_options([(FileOption::Span.name(), span.to_owned())])?
        } else {
            own.with_options(self.reads.options_for_load(load))?
        };
        Ok(NextStep { system, loads: false, plan, point: Point { values, ..Point::default() }, on_one_cpu: false })
    }
}

impl StepSource for IoJob<'_> {
    fn opened(&mut self, _: &dyn Target, dataset: &Dataset, recording: &Recording) -> Result<()> {
        let sessions = self.context.plan.sessions;
        if dataset.schemas > sessions {
            let text = format!(
                "the files hold {} schemas and {sessions} of them are read: for all of it, omit --schemas",
                dataset.schemas
            );
            emit_note(recording, text);
        }
        Ok(())
    }

    fn next(&mut self, finished: Option<&StepSummary>, recording: &Recording) -> Result<Option<NextStep>> {
        let at = self.taken;
        self.taken += 1;
        match self.job {
            Job::Spans { spans, in_flight } => {
                let load = InFlight { small: *in_flight, large: 0 };
                spans.get(at).map(|span| self.step(load, Some(span))).transpose()
            }
            Job::Points(points) => {
                let step = |load: &InFlight| {
                    tell(&format!("{} of {}", at + 1, points.len()), *load, recording);
                    self.step(*load, None)
                };
                points.get(at).map(step).transpose()
            }
            Job::Calibrate { .. } => {
                if let Some(step) = finished {
                    self.calibration.record(self.load, outcome(self.load, step)?);
                }
                let Some(load) = self.calibration.next() else { return Ok(None) };
                tell("of a calibration", load, recording);
                self.step(load, None).map(Some)
            }
        }
    }
}

fn tell(place: &str, load: InFlight, recording: &Recording) {
    recording.tell(&format!("point {place}: {} small and {} large in flight", load.small, load.large));
}

fn outcome(load: InFlight, step: &StepSummary) -> Result<Outcome> {
    let outcome = if load.large > 0 {
        large(step).and_then(|op| Some(Outcome { per_s: op.per_s, mean_us: op.mean_us? }))
    } else {
        small(step).map(|op| Outcome { per_s: op.per_s, mean_us: op.mean_us })
    };
    outcome.ok_or_else(|| Error::run("no I/O completed in a step", "pass a longer --duration"))
}
