//! `mindful contrast`: raw reads and the database on the same bytes, in one command.

use clap::ArgMatches;
use mindful_core::Result;
use mindful_runner::Alone;
use mindful_runner::contrast::{self, Contrast};

use crate::args::flags::{self, full, live, repeat};
use crate::args::plan_flags::RESULT;
use crate::commands::show;
use crate::context;
use crate::exit::Exit;
use crate::outcome;
use crate::verb::{Action, Group, PlanKeys, Verb};
use crate::{layers, registry};

pub(super) const VERB: Verb = Verb {
    name: "contrast",
    group: Some(Group::Measure),
    about: "Compare the database with raw reads of the same bytes",
    details: "Contrast reads the files of the dataset without the database, then with it, on one core and on all. The difference is the cost of the database. Its files have to be on this host.",
    example: "mindful contrast --target sqlite:/mnt/fast/bench.db",
    page: "docs/plans.md",
    plan: PlanKeys::Shown(&["target", "scale", "schemas", "sessions", "duration", "warmup", "tag"]),
    arguments: || {
        let own = [repeat("Number of rounds [1 to 1000] [default: 3]"), full(), live()];
        own.into_iter().map(|arg| arg.help_heading(RESULT)).collect()
    },
    action: Action::Run(contrast),
};

/// Default of `--repeat`.
const REPETITIONS: u32 = 3;

fn contrast(matches: &ArgMatches) -> Result<Exit> {
    let repetitions = flags::repetitions(matches, 1, REPETITIONS)?;
    let mut settings = layers::settings(matches)?;
    let engine = registry::of(&settings)?;
    contrast::complete(&mut settings, engine);
    let context = context::alone(settings, matches)?;
    let mut turns = Contrast::new(&context, registry::of_files()?, repetitions)?;
    let form = show::Form::of(matches);
    let ended = mindful_runner::run(&context, &Alone, &mut turns, None, &mut |run, analysis| {
        show::print(run, analysis, form, &context.store)
    })?;
    outcome::of_steps(ended)
}
