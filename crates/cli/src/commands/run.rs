//! `mindful run`: the main job.

use clap::ArgMatches;
use mindful_core::Result;
use mindful_core::result::Validity;
use mindful_runner::Context;
use mindful_runner::hooks::Phase;
use mindful_runner::job::{self, Ended};

use crate::commands::show;
use crate::context;
use crate::exit::Exit;

/// Opens the target, loads if needed, runs, stores, reports.
pub fn run(matches: &ArgMatches) -> Result<Exit> {
    let explained = show::explained(matches)?;
    measured(&context::of(matches)?, context::wants_json(matches), explained)
}

/// The same for a context that is already made.
pub fn measured(context: &Context, json: bool, explained: Option<&str>) -> Result<Exit> {
    let mut ended = job::execute(context)?;
    let validity = show::stored(&context.store, &ended.id, json, true)?;
    if let Some(figure) = explained {
        show::explain(&context.store, &ended.id, figure)?;
    }
    ended.error = ended.error.or(context.hook(Phase::End, &ended.id).err());
    Ok(conclusion(&ended, validity))
}

fn conclusion(ended: &Ended, validity: Validity) -> Exit {
    match (&ended.error, ended.interrupted, validity) {
        (_, true, _) => Exit::Interrupted,
        (Some(_), ..) | (_, _, Validity::Invalid) => Exit::Invalid,
        _ => Exit::Ok,
    }
}
