//! `mindful run --again RUN`: runs the plan of a stored run on this host, and compares both.

use clap::ArgMatches;
use mindful_core::plan::settings::Settings;
use mindful_core::record::run::Run;
use mindful_core::{Error, Result};
use mindful_runner::{Alone, Ended, Single};

use crate::commands::{compare, sweep};
use crate::exit::Exit;
use crate::outcome;
use crate::{context, store, stored_settings};
use mindful_analyze::compare::Sides;

/// Runs the plan of run `name`, a sweep with all its steps.
pub(super) fn run(name: &str, matches: &ArgMatches) -> Result<Exit> {
    let store = store::open(matches)?;
    let (run, own) = store.read_judged(&store.resolve(name)?)?;
    refuse(&run)?;
    let before = (run.clone(), mindful_analyze::analyze(&run));
    let settings = stored_settings::settings(&run.head, own, "repeated (--again)", matches)?;
    refuse_shared(&before.0)?;
    let swept = before.0.steps.iter().any(|step| !step.head.point.is_plain());
    let ended = if swept { sweep::walked(settings, None, false, matches)? } else { one_step(settings, matches)? };
    let whole = ended.error.is_none() && !ended.interrupted;
    if whole {
        let names = [before.0.head.id.clone(), ended.run.head.id.clone()];
        let candidate = vec![(ended.run.clone(), mindful_analyze::analyze(&ended.run))];
        let sides = Sides { names, baseline: vec![before], candidate, planned: true };
        context::print(&compare::planned(matches, &store, &sides)?)?;
    }
    if swept { outcome::of_sweep(ended) } else { outcome::of_steps(ended) }
}

/// Refuses a run of several ranks: one process would measure all its sessions.
fn refuse_shared(run: &Run) -> Result<()> {
    match run.steps.iter().find_map(|step| step.ranks.first()) {
        None => Ok(()),
        Some(rank) => Err(Error::plan(
            format!("run {} was shared by {} ranks", run.head.id, rank.ranks),
            "start the ranks again, and compare the two runs",
        )),
    }
}

fn one_step(settings: Settings, matches: &ArgMatches) -> Result<Ended> {
    let context = context::alone(settings, matches)?;
    let mut source = Single::new(context.system(), context.plan.clone());
    mindful_runner::run(&context, &Alone, &mut source, None, &mut |_, _| Ok(()))
}

fn refuse(run: &Run) -> Result<()> {
    let id = &run.head.id;
    if let Some(imported) = &run.head.imported {
        return Err(Error::plan(
            format!("run {id} was measured by another tool ({})", imported.what),
            "--again takes runs and sweeps of mindful",
        ));
    }
    if !run.targets.is_empty() {
        return Err(Error::plan(
            format!("run {id} has {} targets", run.targets.len()),
            "pass its flags to `mindful run`, then compare the two runs",
        ));
    }
    let job = mindful_analyze::io_job::load;
    if run.steps.iter().any(|step| job(&step.head.point).is_some()) {
        return Err(Error::plan(format!("run {id} is a job on files"), "pass its flags to `mindful raw`"));
    }
    if run.steps.iter().any(|step| step.head.point.values.keys().any(|key| ["rung", "way"].contains(&key.as_str()))) {
        return Err(Error::plan(format!("run {id} is a contrast"), "pass its flags to `mindful contrast`"));
    }
    Ok(())
}
