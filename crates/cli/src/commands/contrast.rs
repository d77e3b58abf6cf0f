//! `mindful contrast`: mindless against mindful I/O, on the same bytes, in one command.

use clap::ArgMatches;
use mindful_core::Result;
use mindful_runner::Alone;
use mindful_runner::contrast::{self, Contrast};

use crate::commands::{run, show};
use crate::context;
use crate::exit::Exit;
use crate::{args, layers, registry};

/// Repetitions where nobody says.
const REPETITIONS: u32 = 3;

/// Measures all rungs in turn, pinned to one core and not, and says what lies between them.
pub fn contrast(matches: &ArgMatches) -> Result<Exit> {
    let repetitions = args::repetitions(matches, 1, REPETITIONS)?;
    let mut settings = layers::settings(matches)?;
    contrast::complete(&mut settings);
    let context = contrast::with_small_cache(context::alone(settings, matches)?);
    let mut turns = Contrast::new(&context, registry::of_files()?, repetitions)?;
    let form = show::Form::of(matches);
    let ended = mindful_runner::run(&context, &Alone, &mut turns, None, &mut |run, analysis| {
        show::print(run, analysis, form, &context.store)
    })?;
    run::concluded(ended)
}
