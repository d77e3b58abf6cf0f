//! `mindful run`: the main job.

use clap::ArgMatches;
use mindful_core::result::Validity;
use mindful_core::{Error, Result};
use mindful_runner::{Context, Ended, Single};

use crate::commands::{own_ranks, ranks, show};
use crate::exit::Exit;
use crate::{context, layers, new_files};

/// Opens the target, loads if needed, runs, stores, reports.
pub fn run(matches: &ArgMatches) -> Result<Exit> {
    let explained = show::explained(matches)?;
    let settings = new_files::asked(layers::settings(matches)?, matches)?;
    let context = context::among_ranks(settings, matches)?;
    let own = context::first_of_own(&context)?;
    match (context.rank.clone(), own) {
        (Some(rank), _) => {
            let _parent = own_ranks::Parent::of(matches, &context);
            ranks::run(context, &rank, show::Form::of(matches))
        }
        (None, Some(first)) => own_ranks::run(context, &first, matches),
        (None, None) => measured(&context, show::Form::of(matches), explained),
    }
}

/// The same for a context that is already made.
pub fn measured(context: &Context, form: show::Form, explained: Option<&str>) -> Result<Exit> {
    let mut source = Single::new(context.system(), context.plan.clone());
    let ended = mindful_runner::run(context, &mut source, None, &mut |run, analysis| {
        show::print(run, analysis, form, &context.store)?;
        explained.map_or(Ok(()), |figure| context::print(&mindful_report::explain::figure(figure, analysis)?))
    })?;
    Ok(conclusion(&ended))
}

fn conclusion(ended: &Ended) -> Exit {
    match (&ended.error, ended.interrupted, ended.analysis.summary.validity) {
        (_, true, _) => Exit::Interrupted,
        (Some(_), ..) | (_, _, Validity::Invalid) => Exit::Invalid,
        _ => Exit::Ok,
    }
}

/// How a verb of many steps ends: with the error that cut it short, if one did.
pub fn concluded(ended: Ended) -> Result<Exit> {
    match ended.error {
        Some(error) => Err(error),
        None if ended.interrupted => Err(Error::interrupted("interrupted; what was measured is stored")),
        None if ended.analysis.summary.validity == Validity::Invalid => Ok(Exit::Invalid),
        None => Ok(Exit::Ok),
    }
}
