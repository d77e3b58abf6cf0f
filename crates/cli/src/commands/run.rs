//! `mindful run`: the main job.

use clap::ArgMatches;
use mindful_core::result::Validity;
use mindful_core::{Error, Result};
use mindful_runner::{Alone, Context, Coordination, Ended, Single};

use crate::commands::{ranks, show};
use crate::exit::Exit;
use crate::rank_context::RankContext;
use crate::{context, layers, new_files};

/// Opens the target, loads if needed, runs, stores, reports.
pub fn run(matches: &ArgMatches) -> Result<Exit> {
    let explained = show::explained(matches)?;
    let settings = new_files::asked(layers::settings(matches)?, matches)?;
    let shared = RankContext::of_rank(settings, matches)?;
    let measure = |coordination: &dyn Coordination| measure(&shared.context, coordination, explained, matches);
    let ended = match (&shared.rank, &shared.first_local_rank()?) {
        (Some(rank), _) => ranks::join(&shared, rank, matches, &measure),
        (None, Some(first)) => ranks::start_local(&shared, first, matches, &measure),
        (None, None) => measure(&Alone),
    }?;
    Ok(conclude(&ended))
}

/// Runs the plan of `context` and prints the result.
pub fn measure(
    context: &Context,
    coordination: &dyn Coordination,
    explained: Option<&str>,
    matches: &ArgMatches,
) -> Result<Ended> {
    let mut source = Single::new(context.system(), context.plan.clone());
    mindful_runner::run(context, coordination, &mut source, None, &mut |run, analysis| {
        show::print(run, analysis, show::Form::of(matches), &context.store)?;
        explained.map_or(Ok(()), |figure| context::print(&mindful_report::explain::figure(figure, analysis)?))
    })
}

/// How a run of one step ends.
pub fn conclude(ended: &Ended) -> Exit {
    match (&ended.error, ended.interrupted, ended.valid) {
        (_, true, _) => Exit::Interrupted,
        (Some(_), ..) | (_, _, false) => Exit::Invalid,
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
