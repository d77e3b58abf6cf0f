//! One run from open to stored: what `run` does once and other verbs do many times.

use std::sync::Arc;

use mindful_core::dataset::Dataset;
use mindful_core::engine::{Description, Target};
use mindful_core::event::{Event, Events};
use mindful_core::run::{FORMAT, Point, RunHead};
use mindful_core::workload::Workload;
use mindful_core::{Error, ErrorKind, Result};

use crate::cached::{self, Alike};
use crate::context::Context;
use crate::hooks::Phase;
use crate::measure;
use crate::step::StepOutcome;
use crate::{dataset, examine};

/// A run that has ended and is stored.
pub struct Ended {
    /// Its id.
    pub id: String,
    /// What made it fail, if anything.
    pub error: Option<Error>,
    /// Whether a signal ended it.
    pub interrupted: bool,
}

/// Opens the target, loads if needed, runs one step, stores. An error means that nothing is stored.
pub fn execute(context: &Context) -> Result<Ended> {
    let target = context.open()?;
    let (description, dataset) = ready(context, &*target)?;
    let workload = context.plan.workload(&dataset)?;
    prepare(context, &*target, &workload)?;
    let id = record(context, &*target, description)?;
    let (error, interrupted) = match hooked_step(context, &*target, workload, &id) {
        Ok(outcome) => (outcome.error, outcome.interrupted),
        Err(error) => {
            let interrupted = error.kind == ErrorKind::Interrupted;
            (Some(error), interrupted)
        }
    };
    let events = context.events();
    events.emit(Event::Finished { interrupted, error: error.as_ref().map(ToString::to_string) });
    context.events().quiet();
    context.recording.close()?;
    Ok(Ended { id, error, interrupted })
}

/// The step between its hooks.
fn hooked_step(context: &Context, target: &dyn Target, workload: Workload, id: &str) -> Result<StepOutcome> {
    context.hook(Phase::Before, id)?;
    let outcome = measure::step(context, target, &context.plan, workload, 0, Point::default())?;
    context.hook(Phase::After, id)?;
    Ok(outcome)
}

/// The target described and its dataset there.
pub fn ready(context: &Context, target: &dyn Target) -> Result<(Description, Dataset)> {
    context.store.probe()?;
    let description = target.describe()?;
    let events = context.events();
    let dataset = dataset::ensure(target, &context.plan, &description, &*events, &context.stop)?;
    if context.stop.requested() {
        return Err(Error::interrupted("interrupted before the run began; nothing is stored"));
    }
    // A load may have restarted the server with other settings.
    Ok((target.describe()?, dataset))
}

/// The target made ready for the workload; refuses operations that are not what the method asks for.
pub fn prepare(context: &Context, target: &dyn Target, workload: &Workload) -> Result<()> {
    let shapes = target.prepare(workload, context.plan.sessions)?;
    context.recording.emit(Event::Shapes { shapes });
    for finding in examine::examine(target, &context.plan)? {
        context.recording.emit(Event::Finding(finding));
    }
    Ok(())
}

/// Opens the run folder: from here on, what happens is stored.
pub fn record(context: &Context, target: &dyn Target, description: Description) -> Result<String> {
    let head = RunHead {
        format: FORMAT,
        id: String::new(),
        started_at: String::new(),
        mindful_version: env!("CARGO_PKG_VERSION").to_owned(),
        engine: context.engine.name().to_owned(),
        server_side_loop: Some(context.engine.capabilities().server_side_loop),
        target: context.redacted_target(),
        plan: context.plan.clone(),
        settings: context.public_settings(),
        imported: None,
    };
    let writer = Arc::new(context.store.create(head)?);
    let host = target.host();
    let mut facts = mindful_observe::environment(&host);
    let alike = Alike {
        engine: context.engine.name(),
        version: &description.engine_version,
        work_unit: context.plan.work_unit,
        host: &facts,
    };
    facts.extend(cached::facts(&context.store, &alike)?);
    writer.emit(Event::Environment { facts });
    writer.emit(Event::Described { description, host });
    context.recording.write_to(&writer);
    match context.recording.fault() {
        Some(fault) => Err(fault),
        None => Ok(writer.id().to_owned()),
    }
}
