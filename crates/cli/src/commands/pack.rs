//! `mindful pack`: a run as one file, with everything that somebody else needs to check it and to run it again.

use std::fmt::Write as _;
use std::path::Path;

use clap::ArgMatches;
use mindful_analyze::Analysis;
use mindful_analyze::compare::provenance::NOT_STATED;
use mindful_core::Result;
use mindful_core::contract::fact::Fact;
use mindful_core::plan::settings::Origin;
use mindful_core::record::run::Run;
use mindful_host::binary;
use mindful_record::{LOG, SUMMARY, pack};
use mindful_report::repeat::{Repeat, repeat};
use mindful_report::{escape, escape_json};
use serde_json::json;

use crate::args::flags::{output, redact, run_name};
use crate::commands::export;
use crate::exit::Exit;
use crate::runs::Runs;
use crate::verb::{Action, Group, PlanKeys, Verb};
use crate::{context, store, version};

pub(super) const VERB: Verb = Verb {
    name: "pack",
    group: Some(Group::Keep),
    about: "Pack a run into one file for somebody else",
    details: "The file contains the record, the figures, a page, the plan, the environment and the version. `mindful import` reads it.",
    example: "mindful pack latest --redact --output run.tar.zst",
    page: "docs/reports.md",
    plan: PlanKeys::None,
    arguments: || vec![run_name(), redact(), output("File to write [default: RUN.tar.zst]")],
    action: Action::Run(pack),
};

fn pack(matches: &ArgMatches) -> Result<Exit> {
    let store = store::open(matches)?;
    let name = matches.get_one::<String>("id").map_or("latest", String::as_str);
    let id = store.resolve(name)?;
    let runs = Runs::of(&store, matches);
    let (run, analysis) = runs.read(&id)?;
    let output = matches.get_one::<String>("output").cloned().unwrap_or_else(|| format!("{id}.tar.zst"));
    let mut texts = Vec::new();
    if matches.get_flag("redact") {
        let mut lines = String::new();
        runs.lines(&id, &mut |piece| {
            lines.push_str(piece);
            Ok(())
        })?;
        texts.extend([
            (LOG, lines),
            (SUMMARY, escape_json(&mindful_report::export::json::summary(&analysis.summary)).into_owned()),
        ]);
    }
    texts.extend([
        (pack::VERSION, version(&run, &analysis)),
        (pack::PLAN, plan(&run)),
        (pack::ENVIRONMENT, environment(&run)),
        (pack::PAGE, export::page(&runs, std::slice::from_ref(&id))?),
    ]);
    store.pack(&id, &texts, Path::new(&output), matches.get_flag("yes"))?;
    let output = escape(&output);
    context::print(&format!(
        "run {id} is packed into {output}; on another host: `mindful import {output}`, then `mindful run --again {id}`\n"
    ))?;
    Ok(Exit::Ok)
}

/// Which binaries measured and packed, and how the run is repeated.
fn version(run: &Run, analysis: &Analysis) -> String {
    let measured = escape(run.head.mindful_build.as_ref().unwrap_or(&run.head.mindful_version));
    let hash = |hash: Option<&str>| hash.unwrap_or(NOT_STATED).to_owned();
    let measured_by = escape(&hash(Fact::BinaryHash.find(&run.environment).map(String::as_str)));
    let repeat = match repeat(run, &analysis.summary) {
        Repeat::Commands(commands) => format!("to repeat it: {}", escape(&commands.join(" && "))),
        Repeat::OfAnotherTool(what) => format!("another tool measured it: {}", escape(&what)),
    };
    format!(
        "format {}\nmeasured by mindful {measured}, SHA-256 {measured_by}\npacked by mindful {}, SHA-256 {}\n{repeat}\n",
        run.head.format,
        version::line(),
        hash(binary::hash())
    )
}

/// The settings that the user gave, as a plan file.
fn plan(run: &Run) -> String {
    let mut text = format!("# The plan of run {}: mindful run --plan plan.toml\n", run.head.id);
    let is_key = |name: &str| name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    let given = run.head.settings.iter().filter(|(name, setting)| setting.origin != Origin::Default && is_key(name));
    for (name, setting) in given {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{name} = {}", toml_text(&setting.value));
    }
    text
}

/// `text` as a basic string of TOML, which has the escapes of JSON.
fn toml_text(text: &str) -> String {
    escape_json(&serde_json::Value::from(text).to_string()).into_owned()
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
    escape_json(&format!("{all:#}\n")).into_owned()
}
