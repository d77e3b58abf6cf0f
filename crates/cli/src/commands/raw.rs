//! `mindful raw`: only the I/O engine, in one step or in the jobs known from Orion and similar tools.

mod csv;
mod io_job;

use clap::{Arg, ArgMatches};
use mindful_core::plan::settings::{Origin, Settings};
use mindful_core::{Error, Result};
use mindful_runner::Alone;
use mindful_runner::io_job::IoJob;

use crate::args::flags::full;
use crate::args::plan_flags::{self, RESULT};
use crate::commands::{run, show};
use crate::context;
use crate::exit::Exit;
use crate::outcome;
use crate::verb::{Action, Verb};
use crate::{io_keys, layers, new_files, registry};
use csv::Matrices;

pub(super) const VERB: Verb = Verb {
    name: "raw",
    about: "Measure files and devices without a database",
    details: "Raw measures one step, a job of Orion (--preset), a calibration, or parts of a disk in turn (--spans). Block size, depth and I/O method are options of the engine: `mindful engines raw`.",
    example: "mindful raw /dev/nvme1n1 --preset calibrate --limit 1ms",
    page: "docs/plans.md",
    plan: Some("scale schemas sessions update_pct duration warmup rate tag"),
    arguments: || {
        let path = Arg::new("path").value_name("PATH").help("File or device; short for --target raw:PATH");
        let job = io_keys::KEYS.iter().map(|key| plan_flags::flag(key).help_heading("Job"));
        [path].into_iter().chain(job).chain([full().help_heading(RESULT)]).collect()
    },
    action: Action::Run(raw),
};

fn raw(matches: &ArgMatches) -> Result<Exit> {
    let mut settings = layers::settings_of(registry::of_files()?, matches)?;
    name_target(matches, &mut settings)?;
    read_whole(&mut settings);
    let mut settings = new_files::asked(settings, matches)?;
    let job = io_job::of(&mut settings)?;
    let csv = settings.get("csv").map(Matrices::begin).transpose()?;
    let context = context::alone(settings, matches)?;
    let Some(job) = job else { return Ok(outcome::of_one_step(&run::measure(&context, &Alone, None, matches)?)) };
    if io_job::keeps_several(&job, &context.settings)? {
        mindful_raw::require_io_uring("a session of several I/Os in flight")?;
    }
    let mut steps = IoJob::new(&context, &job)?;
    let ended = mindful_runner::run(&context, &Alone, &mut steps, None, &mut |run, analysis| {
        show::print(run, analysis, matches, &context.store)?;
        csv.as_ref().map_or(Ok(()), |csv| csv.write(run))
    })?;
    outcome::of_steps(ended)
}

/// A bare path becomes a target of the raw engine.
fn name_target(matches: &ArgMatches, settings: &mut Settings) -> Result<()> {
    let next = "name a file or device: mindful raw PATH";
    if let Some(path) = matches.get_one::<String>("path") {
        if matches.get_one::<String>("target").is_some() {
            return Err(Error::plan("both PATH and --target are given", "drop one of them"));
        }
        let url = if path.starts_with("raw:") { path.clone() } else { format!("raw:{path}") };
        settings.set("target", url, Origin::Flag("PATH".to_owned()));
    }
    match settings.given_text("target") {
        Some(url) if url.starts_with("raw:") => Ok(()),
        Some(_) => Err(Error::plan(
            format!("{}: `mindful raw` measures files and devices only", settings.describe_place("target")),
            next,
        )),
        None => Err(Error::plan("no file or device to measure", next)),
    }
}

/// A session reads one schema. By default the files are one schema, so that one session reads all of them.
fn read_whole(settings: &mut Settings) {
    if ["schemas", "hot_schema", "whole"].iter().any(|key| settings.given_text(key).is_some()) {
        return;
    }
    settings.set("whole", "on", Origin::Default);
    if settings.given_text("scale").is_some() {
        // --scale is the size of a new file, so it holds one schema.
        settings.set("schemas", "1", Origin::Default);
    }
}
