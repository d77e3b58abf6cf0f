//! `mindful rerun`: the plan of a stored run once more, here, compared with what it gave.

use clap::ArgMatches;
use mindful_core::record::run::Run;
use mindful_core::{Error, Result};
use mindful_runner::{Alone, Ended, Single};

use crate::commands::compare::sides::Sides;
use crate::commands::{compare, run, sweep};
use crate::exit::Exit;
use crate::{context, store, stored_settings};

/// Runs it again and compares.
pub fn rerun(matches: &ArgMatches) -> Result<Exit> {
    let store = store::open(matches)?;
    let name = matches.get_one::<String>("id").map_or("latest", String::as_str);
    let (run, own) = store.read_judged(&store.resolve(name)?)?;
    refuse(&run)?;
    let before = (run.clone(), mindful_analyze::analyze(&run));
    let settings = stored_settings::settings(&run.head, own, "rerun", matches)?;
    refuse_shared(&before.0)?;
    let swept = before.0.steps.iter().any(|step| !step.head.point.is_plain());
    let ended = if swept { sweep::walked(settings, None, None, matches)? } else { again(settings, matches)? };
    let whole = ended.error.is_none() && !ended.interrupted;
    if whole {
        let names = [before.0.head.id.clone(), ended.run.head.id.clone()];
        let candidate = vec![(ended.run.clone(), mindful_analyze::analyze(&ended.run))];
        let sides = Sides { names, baseline: vec![before], candidate, planned: true };
        context::print(&compare::reported(matches, &store, &sides)?)?;
    }
    run::concluded(ended)
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

fn again(settings: mindful_core::plan::settings::Settings, matches: &ArgMatches) -> Result<Ended> {
    let context = context::alone(settings, matches)?;
    let mut source = Single::new(context.system(), context.plan.clone());
    mindful_runner::run(&context, &Alone, &mut source, None, &mut |_, _| Ok(()))
}

/// What no plan alone makes again.
fn refuse(run: &Run) -> Result<()> {
    let id = &run.head.id;
    if let Some(imported) = &run.head.imported {
        return Err(Error::plan(
            format!("run {id} was measured by another tool ({})", imported.what),
            "rerun runs and sweeps of mindful",
        ));
    }
    if !run.targets.is_empty() {
        return Err(Error::plan(
            format!("run {id} is of {} targets", run.targets.len()),
            "give `mindful run` its flags again, and compare the two runs",
        ));
    }
    let job = mindful_analyze::io_job::load;
    if run.steps.iter().any(|step| job(&step.head.point).is_some()) {
        return Err(Error::plan(format!("run {id} is a job on files"), "give `mindful raw` its flags again"));
    }
    if run.steps.iter().any(|step| step.head.point.values.contains_key("rung")) {
        return Err(Error::plan(format!("run {id} is a contrast"), "give `mindful contrast` its flags again"));
    }
    Ok(())
}
