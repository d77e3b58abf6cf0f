//! `mindful sweep`: ladders of sessions and settings, on one dataset, in one run folder, resumable.

use clap::ArgMatches;
use mindful_core::Result;
use mindful_core::plan::KEYS;
use mindful_core::plan::settings::{Key, Settings};
use mindful_core::record::run::Run;
use mindful_record::RunWriter;
use mindful_runner::sweep::Sweep;
use mindful_runner::walk::Walk;
use mindful_runner::{Alone, Ended};

use crate::commands::{run, show};
use crate::context;
use crate::exit::Exit;
use crate::{layers, new_files, registry, store, stored_settings};

/// Walks the ladder, or goes on with one.
pub fn sweep(matches: &ArgMatches) -> Result<Exit> {
    let store = store::open(matches)?;
    let resumed = matches.get_one::<String>("resume").map(|name| store.go_on(&store.resolve(name)?)).transpose()?;
    let settings = match &resumed {
        Some((writer, _)) => stored_settings::settings(writer.head(), writer.is_own(), "--resume", matches)?,
        None => new_files::asked(layers::settings(matches)?, matches)?,
    };
    run::concluded(walked(settings, resumed, Some(show::Form::of(matches)), matches)?)
}

/// Walks the ladder that `settings` name, from its first point or from where `resumed` stopped, and prints it in `form`, if
/// there is one.
pub fn walked(
    settings: Settings,
    resumed: Option<(RunWriter, Run)>,
    form: Option<show::Form>,
    matches: &ArgMatches,
) -> Result<Ended> {
    let engine = registry::of(&settings)?;
    let keys: Vec<&Key> = KEYS.iter().chain(engine.options()).collect();
    let sweep = Sweep::new(&settings, &keys)?;
    let mut context = context::alone(sweep.base.clone(), matches)?;
    for settings in sweep.known() {
        context.engine.accepts(&context.plan.target, &settings)?;
    }
    // What is stored is the sweep itself, not its first point.
    context.stored = settings;
    let mut walk = match &resumed {
        Some((_, run)) => Walk::resumed(&sweep, &context, run),
        None => Walk::new(&sweep, &context),
    };
    mindful_runner::run(&context, &Alone, &mut walk, resumed, &mut |run, analysis| {
        form.map_or(Ok(()), |form| show::print(run, analysis, form, &context.store))
    })
}
