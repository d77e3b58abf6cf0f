//! `mindful run`: the main job.

use clap::ArgMatches;
use mindful_core::dataset::Dataset;
use mindful_core::engine::{Description, Target};
use mindful_core::event::{Event, Events};
use mindful_core::result::Validity;
use mindful_core::run::{FORMAT, RunHead};
use mindful_core::workload::Workload;
use mindful_core::{Error, Result};
use mindful_drive::StepOutcome;
use std::sync::Arc;

use crate::commands::{doctor, show};
use crate::context::{self, Context};
use crate::exit::Exit;
use crate::hooks::{self, Phase};
use crate::measure;

/// Opens the target, loads if needed, runs, stores, reports.
pub fn run(matches: &ArgMatches) -> Result<Exit> {
    let context = Context::new(matches)?;
    let target = context.open()?;
    let (description, dataset) = ready(&context, &*target)?;
    let workload = context.plan.workload(&dataset)?;
    prepare(&context, &*target, &workload)?;
    let id = record(&context, &*target, description)?;
    let (mut error, interrupted) = match hooked_step(&context, &*target, workload, &id) {
        Ok(outcome) => (outcome.error, outcome.interrupted),
        Err(error) => (Some(error), false),
    };
    let events = context.events();
    events.emit(Event::Finished { interrupted, error: error.as_ref().map(ToString::to_string) });
    context.recording.quiet();
    context.recording.close()?;
    // The server stops while the report is read.
    drop(target);
    let validity = show::stored(&context.store, &id, context::wants_json(matches), true)?;
    let folder = context.store.run_dir(&id);
    error = error.or(hooks::call(&context.plan.hooks, Phase::End, &id, &folder, &*events).err());
    Ok(conclusion(error.as_ref(), interrupted, validity))
}

/// The step between its hooks.
fn hooked_step(context: &Context, target: &dyn Target, workload: Workload, id: &str) -> Result<StepOutcome> {
    let (events, folder) = (context.events(), context.store.run_dir(id));
    hooks::call(&context.plan.hooks, Phase::Before, id, &folder, &*events)?;
    let outcome = measure::step(context, target, &context.plan, workload, 0)?;
    hooks::call(&context.plan.hooks, Phase::After, id, &folder, &*events)?;
    Ok(outcome)
}

/// The target described and its dataset there.
fn ready(context: &Context, target: &dyn Target) -> Result<(Description, Dataset)> {
    let description = target.describe()?;
    let events = context.events();
    let dataset = mindful_drive::dataset::ensure(target, &context.plan, &description, &*events, &context.stop)?;
    if context.stop.requested() {
        return Err(Error::interrupted("interrupted before the run began; nothing is stored"));
    }
    // A load may have restarted the server with other settings.
    Ok((target.describe()?, dataset))
}

/// The target made ready for the workload; refuses operations that are not what the method asks for.
fn prepare(context: &Context, target: &dyn Target, workload: &Workload) -> Result<()> {
    let shapes = target.prepare(workload, context.plan.sessions)?;
    context.recording.emit(Event::Shapes { shapes });
    for finding in doctor::examine(target, &context.plan)? {
        context.recording.emit(Event::Finding(finding));
    }
    Ok(())
}

/// Opens the run folder: from here on, what happens is stored.
fn record(context: &Context, target: &dyn Target, description: Description) -> Result<String> {
    let head = RunHead {
        format: FORMAT,
        id: String::new(),
        started_at: String::new(),
        mindful_version: env!("CARGO_PKG_VERSION").to_owned(),
        engine: context.engine.name().to_owned(),
        target: context.redacted_target(),
        plan: context.plan.clone(),
        settings: context.public_settings(),
    };
    let writer = Arc::new(context.store.create(head)?);
    let host = target.host();
    writer.emit(Event::Environment { facts: mindful_observe::environment(&host) });
    writer.emit(Event::Described { description, host });
    context.recording.write_to(&writer);
    match context.recording.fault() {
        Some(fault) => Err(fault),
        None => Ok(writer.id().to_owned()),
    }
}

fn conclusion(error: Option<&Error>, interrupted: bool, validity: Validity) -> Exit {
    match (error, interrupted, validity) {
        (_, true, _) => Exit::Interrupted,
        (Some(_), ..) | (_, _, Validity::Invalid) => Exit::Invalid,
        _ => Exit::Ok,
    }
}
