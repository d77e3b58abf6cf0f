//! `mindful contrast`: raw reads and the database on the same bytes, in one command.

use std::path::PathBuf;

use clap::{Arg, ArgMatches};
use mindful_core::Result;
use mindful_runner::Alone;
use mindful_runner::StepSource;
use mindful_runner::commit_contrast::{self, CommitContrast};
use mindful_runner::contrast::{self, Contrast};

use crate::args::flags::{self, full, live, repeat};
use crate::args::plan_flags::RESULT;
use crate::commands::show;
use crate::context;
use crate::exit::Exit;
use crate::outcome;
use crate::verb::{Action, Verb};
use crate::{layers, registry};

pub(super) const VERB: Verb = Verb {
    name: "contrast",
    about: "Compare the database with raw reads of the same bytes",
    details: "Contrast reads the files of the dataset without the database, then with it, on one core and on all. The difference is the cost of the database. Its files have to be on this host. With --commits it compares commits with bare durable writes on the file system of the log.",
    example: "mindful contrast --target sqlite:/mnt/fast/bench.db",
    page: "docs/plans.md",
    plan: Some("target scale schemas sessions duration warmup tag"),
    arguments: || {
        let commits = Arg::new("commits").long("commits").value_name("DIR").num_args(0..=1).require_equals(true);
        let commits = commits
            .default_missing_value("")
            .help("Compare commits with bare durable writes to a file in DIR (default: a private server's folder)");
        let own = [commits, repeat("Number of rounds [1 to 1000] [default: 3]"), full(), live()];
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
    let commits = matches.get_one::<String>("commits");
    match commits {
        Some(_) => commit_contrast::complete(&mut settings, engine),
        None => contrast::complete(&mut settings, engine),
    }
    let context = context::alone(settings, matches)?;
    let files = registry::of_files()?;
    let mut turns: Box<dyn StepSource + '_> = match commits {
        Some(folder) => {
            let folder = Some(folder).filter(|folder| !folder.is_empty()).map(PathBuf::from);
            Box::new(CommitContrast::new(&context, files, folder, repetitions)?)
        }
        None => Box::new(Contrast::new(&context, files, repetitions)?),
    };
    let ended = mindful_runner::run(&context, &Alone, turns.as_mut(), None, &mut |run, analysis| {
        show::print(run, analysis, matches, &context.store)
    })?;
    outcome::of_steps(ended)
}
