//! `mindful raw`: the I/O engine alone, in one step or in the jobs that Orion and its like made known.

mod csv;
mod io_job;

use clap::ArgMatches;
use mindful_core::plan::settings::{Origin, Settings};
use mindful_core::{Error, Result};
use mindful_runner::Alone;
use mindful_runner::io_job::IoJob;

use crate::commands::{run, show};
use crate::context;
use crate::exit::Exit;
use crate::{layers, new_files, registry};
use csv::Matrices;

/// Measures what the keys ask for.
pub fn raw(matches: &ArgMatches) -> Result<Exit> {
    let mut settings = layers::settings_of(registry::of_files()?, matches)?;
    name_target(matches, &mut settings)?;
    read_whole(&mut settings);
    let mut settings = new_files::asked(settings, matches)?;
    let job = io_job::of(&mut settings)?;
    let csv = settings.get("csv").map(Matrices::begin).transpose()?;
    let context = context::alone(settings, matches)?;
    let form = show::Form::of(matches);
    let Some(job) = job else { return Ok(run::conclude(&run::measure(&context, &Alone, None, matches)?)) };
    if io_job::keeps_several(&job, &context.settings)? {
        mindful_raw::require_io_uring("a session of several I/Os in flight")?;
    }
    let mut steps = IoJob::new(&context, &job)?;
    let ended = mindful_runner::run(&context, &Alone, &mut steps, None, &mut |run, analysis| {
        show::print(run, analysis, form, &context.store)?;
        csv.as_ref().map_or(Ok(()), |csv| csv.write(run))
    })?;
    run::concluded(ended)
}

/// The target: a bare path is one of the raw engine's.
fn name_target(matches: &ArgMatches, settings: &mut Settings) -> Result<()> {
    let next = "give --target raw:PATH, of a file or device";
    if let Some(path) = matches.get_one::<String>("path") {
        if matches.get_one::<String>("target").is_some() {
            return Err(Error::plan("both a path and --target are given", "give one of them"));
        }
        let url = if path.starts_with("raw:") { path.clone() } else { format!("raw:{path}") };
        settings.set("target", url, Origin::Flag("PATH".to_owned()));
    }
    match settings.given_text("target") {
        Some(url) if url.starts_with("raw:") => Ok(()),
        Some(_) => {
            Err(Error::plan(format!("{}: `mindful raw` measures files", settings.describe_place("target")), next))
        }
        None => Err(Error::plan("`mindful raw` does not know what to measure", next)),
    }
}

/// One session reads one schema: it is to read all of the files, unless schemas are what was asked for.
fn read_whole(settings: &mut Settings) {
    if ["schemas", "hot_schema", "whole"].iter().any(|key| settings.given_text(key).is_some()) {
        return;
    }
    settings.set("whole", "on", Origin::Default);
    if settings.given_text("scale").is_some() {
        // A file that is yet to be made is as large as said.
        settings.set("schemas", "1", Origin::Default);
    }
}
