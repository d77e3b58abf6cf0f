//! `mindful run`: the main job.

mod again;
mod noise;
pub(super) mod turns;

use clap::{Arg, ArgMatches};
use mindful_core::Result;
use mindful_runner::{Alone, Context, Coordination, Ended, Single};

use crate::args::flags::{explain, full, live, option, repeat};
use crate::args::plan_flags::RESULT;
use crate::commands::{ranks, show};
use crate::exit::Exit;
use crate::outcome;
use crate::rank_context::RankContext;
use crate::verb::{Action, Verb};
use crate::{context, layers, new_files};

pub(super) const VERB: Verb = Verb {
    name: "run",
    about: "Run the workload once, store the run, and print its report",
    details: "Without a target, run starts a private PostgreSQL. A missing dataset is loaded first.",
    example: "mindful run --target postgres://host/db --sessions 16 --update-pct 20 --steady",
    page: "docs/first-day.md",
    plan: Some(
        "target scale schemas seed sessions threads update_pct work_unit scan_pct skew redo commit access \
         rate think_time duration warmup steady ops tag",
    ),
    arguments: || {
        let again = option("again", "again", "RUN").conflicts_with_all(["repeat", "explain", "full"]);
        let own = [
            explain(),
            full(),
            live(),
            repeat("Run N times, and store their variation (noise floor) [2 to 1000]")
                .conflicts_with_all(["explain", "full"]),
            again.help("Run the plan of a stored run again, and compare both (id, tag, or latest)"),
        ];
        own.into_iter().map(|arg| arg.help_heading(RESULT)).chain([started_by()]).collect()
    },
    action: Action::Run(run),
};

/// Set by mindful for the ranks that it starts itself.
fn started_by() -> Arg {
    option("started_by", "started-by", "PID").hide(true).help("Process that started this rank")
}

fn run(matches: &ArgMatches) -> Result<Exit> {
    if let Some(name) = matches.get_one::<String>("again") {
        return again::run(name, matches);
    }
    if matches.contains_id("repeat") {
        return noise::measure(matches);
    }
    let explained = show::explained(matches)?;
    let settings = new_files::asked(layers::settings(matches)?, matches)?;
    let shared = RankContext::of_rank(settings, matches)?;
    let measure = |coordination: &dyn Coordination| measure(&shared.context, coordination, explained, matches);
    let ended = match (&shared.rank, &shared.first_local_rank()?) {
        (Some(rank), _) => ranks::join(&shared, rank, matches, &measure),
        (None, Some(first)) => ranks::start_local(&shared, first, matches, &measure),
        (None, None) => measure(&Alone),
    }?;
    Ok(outcome::of_one_step(&ended))
}

/// Runs the plan of `context` and prints the result, with the explanation of a figure if requested.
pub(super) fn measure(
    context: &Context,
    coordination: &dyn Coordination,
    explained: Option<&str>,
    matches: &ArgMatches,
) -> Result<Ended> {
    let mut source = Single::new(context.system(), context.plan.clone());
    mindful_runner::run(context, coordination, &mut source, None, &mut |run, analysis| {
        show::print(run, analysis, matches, &context.store)?;
        explained.map_or(Ok(()), |figure| context::print(&mindful_report::explain::figure(figure, analysis)?).map(drop))
    })
}
