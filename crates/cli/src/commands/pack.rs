//! `mindful pack`: a run as one file, with all that somebody else needs to doubt it, and to make it again.

use std::fmt::Write as _;
use std::path::Path;

use clap::ArgMatches;
use mindful_core::Result;
use mindful_core::plan::settings::Origin;
use mindful_core::record::run::Run;
use mindful_record::{LOG, SUMMARY, pack};
use serde_json::json;

use crate::commands::export;
use crate::exit::Exit;
use crate::runs::Runs;
use crate::{context, store, version};

/// Packs the run that is named.
pub fn pack(matches: &ArgMatches) -> Result<Exit> {
    let store = store::open(matches)?;
    let name = matches.get_one::<String>("id").map_or("latest", String::as_str);
    let id = store.resolve(name)?;
    let runs = Runs::of(&store, matches);
    let (run, analysis) = runs.read(&id)?;
    let output = matches.get_one::<String>("output").cloned().unwrap_or_else(|| format!("{id}.tar.zst"));
    let mut texts = Vec::new();
    if matches.get_flag("redact") {
        texts.extend([(LOG, runs.lines(&id)?), (SUMMARY, mindful_report::json::summary(&analysis.summary))]);
    }
    texts.extend([
        (pack::VERSION, version(&run)),
        (pack::PLAN, plan(&run)),
        (pack::ENVIRONMENT, environment(&run)),
        (pack::PAGE, export::page(&runs, std::slice::from_ref(&id))?),
    ]);
    store.pack(&id, &texts, Path::new(&output), matches.get_flag("yes"))?;
    let output = mindful_report::escape(&output);
    context::print(&format!(
        "run {id} is packed into {output}; elsewhere: `mindful import {output}`, then `mindful rerun {id}`\n"
    ))?;
    Ok(Exit::Ok)
}

fn version(run: &Run) -> String {
    let measured = run.head.mindful_build.clone().unwrap_or_else(|| run.head.mindful_version.clone());
    format!("format {}\nmeasured by mindful {measured}\npacked by mindful {}\n", run.head.format, version::line())
}

/// What was said of the run as a plan file; what nobody said is left to the defaults.
fn plan(run: &Run) -> String {
    let mut text = format!("# The plan of run {}: mindful run --plan plan.toml\n", run.head.id);
    for (name, setting) in run.head.settings.iter().filter(|(_, setting)| setting.origin != Origin::Default) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name} = {}", toml::Value::String(setting.value.clone()));
    }
    text
}

fn environment(run: &Run) -> String {
    let all = json!({
        "environment": run.environment,
        "description": run.description,
        "host": run.host,
        "dataset": run.dataset,
        "proof": run.proof,
        "shapes": run.shapes,
    });
    format!("{all:#}\n")
}
