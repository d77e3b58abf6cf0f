//! `mindful sweep`: steps over sessions and settings, on one dataset, in one run folder, resumable.

use clap::ArgMatches;
use mindful_analyze::{commit_contrast, contrast, io_job};
use mindful_core::plan::settings::{Key, Settings};
use mindful_core::plan::{KEYS, SWEEP_KEYS};
use mindful_core::record::run::{Point, Run};
use mindful_core::{Error, Result};
use mindful_record::{RunWriter, Store};
use mindful_runner::sweep::Sweep;
use mindful_runner::walk::Walk;
use mindful_runner::{Alone, Ended};

use crate::args::flags::{full, live, option};
use crate::args::plan_flags::{self, RESULT};
use crate::commands::show;
use crate::context;
use crate::exit::Exit;
use crate::outcome;
use crate::verb::{Action, Verb};
use crate::{layers, new_files, registry, store, stored_settings, targets};

pub(super) const VERB: Verb = Verb {
    name: "sweep",
    about: "Run at increasing load, or over the values of any key, and find the knee",
    details: "Sweep takes 1..64 (doubling), 10..50/10 (steps) or a list for any key. Without a ladder it doubles the sessions until throughput stops growing.",
    example: "mindful sweep --sessions 1..64 --update-pct 0,20",
    page: "docs/sweeps.md",
    plan: Some("target scale schemas sessions threads update_pct work_unit rate duration warmup steady tag"),
    arguments: || {
        let resume =
            option("resume", "resume", "RUN").help("Continue an interrupted sweep from its last complete step");
        let own = SWEEP_KEYS.iter().map(plan_flags::flag).chain([resume]).map(|arg| arg.help_heading("Sweep"));
        own.chain([full(), live()].map(|arg| arg.help_heading(RESULT))).collect()
    },
    action: Action::Run(sweep),
};

fn sweep(matches: &ArgMatches) -> Result<Exit> {
    let store = store::open(matches)?;
    let resumed = matches.get_one::<String>("resume").map(|name| resumed(name, &store)).transpose()?;
    let settings = match &resumed {
        Some((writer, _)) => stored_settings::settings(&writer.head, writer.own, "resumed (--resume)", matches)?,
        None => new_files::asked(layers::settings(matches)?, matches)?,
    };
    let searched = settings.get("max_iops_at").is_some();
    let ended = walked(settings, resumed, true, matches)?;
    // A search without an answer is no success, however valid its steps are.
    let unanswered = searched && ended.analysis.summary.objective.is_none();
    match outcome::of_sweep(ended)? {
        Exit::Ok if unanswered => Ok(Exit::Invalid),
        exit => Ok(exit),
    }
}

/// The sweep `name` and its record, to continue it.
fn resumed(name: &str, store: &Store) -> Result<(RunWriter, Run)> {
    let id = store.resolve(name)?;
    let is_of_sweep = |point: &Point| {
        let others = [contrast::LEVEL, commit_contrast::WAY];
        !point.is_plain() && io_job::load(point).is_none() && !others.iter().any(|key| point.values.contains_key(*key))
    };
    // Before the record is opened to write: steps of a sweep have no place in another run.
    if store.read(&id)?.steps.iter().any(|step| !is_of_sweep(&step.head.point)) {
        let next = "name a run that `mindful sweep` made; `mindful run --again` runs the plan of another";
        return Err(Error::plan(format!("run {id} is not a sweep"), next));
    }
    store.go_on(&id)
}

/// Runs every step in `settings`, or the missing ones of `resumed`, and prints the report if `is_shown`.
pub(super) fn walked(
    settings: Settings,
    resumed: Option<(RunWriter, Run)>,
    is_shown: bool,
    matches: &ArgMatches,
) -> Result<Ended> {
    let engine = registry::of(&settings)?;
    let keys: Vec<&Key> = KEYS.iter().chain(engine.options()).collect();
    targets::refuse_several(&settings)?;
    let sweep = Sweep::new(&settings, &keys, engine)?;
    let mut context = context::refuse_ranks(context::of_resolved(sweep.base.clone(), engine, matches)?)?;
    // The run stores the settings of the sweep, not those of its first point.
    context.stored = settings;
    let mut walk = match &resumed {
        Some((_, run)) => Walk::resumed(&sweep, &context, run),
        None => Walk::new(&sweep, &context),
    };
    mindful_runner::run(&context, &Alone, &mut walk, resumed, &mut |run, analysis| {
        if is_shown { show::print(run, analysis, matches, &context.store) } else { Ok(()) }
    })
}
