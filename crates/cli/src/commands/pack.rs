//! `mindful pack`: a run as one file, with everything that somebody else needs to check it and to run it again.

pub(super) mod check;

use std::path::Path;

use clap::ArgMatches;
use mindful_analyze::compare::provenance::NOT_STATED;
use mindful_core::contract::fact::Fact;
use mindful_core::{Error, Result};
use mindful_host::binary;
use mindful_record::{LOG, SUMMARY, pack};
use mindful_report::escape;
use mindful_report::export::packed::Derivation;
use mindful_report::repeat::{Repeat, repeat};

use crate::args::flags::{output, redact, run_name};
use crate::exit::Exit;
use crate::runs::Runs;
use crate::verb::{Action, Verb};
use crate::{context, store, version};

/// How the line of [`pack::VERSION`] begins that names the version which packed.
pub(crate) const PACKED_BY: &str = "packed by mindful ";

pub(super) const VERB: Verb = Verb {
    name: "pack",
    about: "Pack a run into one file for somebody else",
    details: "The file contains the record, the figures, a page, the plan, the environment and the version. `mindful import` reads it.",
    example: "mindful pack latest --redact --output run.tar.zst",
    page: "docs/reports.md",
    plan: None,
    arguments: || vec![run_name(), redact(), output("File to write [default: RUN.tar.zst]")],
    action: Action::Run(pack),
};

fn pack(matches: &ArgMatches) -> Result<Exit> {
    let store = store::open(matches)?;
    let name = matches.get_one::<String>("id").map_or("latest", String::as_str);
    let id = store.resolve(name)?;
    let output = matches.get_one::<String>("output").cloned().unwrap_or_else(|| format!("{id}.tar.zst"));
    if store.edits(&id).is_some() {
        return Err(Error::plan(
            format!("run {id} was imported, and its files did not follow from its record"),
            "pack it where it was measured",
        ));
    }
    let mut texts = Vec::new();
    let log = store.log(&id)?;
    let run = if matches.get_flag("redact") {
        let mut lines = String::new();
        Runs::of(&store, matches).lines(&id, &mut |piece| {
            lines.push_str(piece);
            Ok(())
        })?;
        let run = mindful_record::read_text(&lines, &log)?;
        texts.push((LOG, lines));
        run
    } else {
        mindful_record::read_run(&log)?
    };
    let derived = Derivation { run: &run, analysis: &mindful_analyze::analyze(&run) };
    texts.extend([
        (SUMMARY, derived.summary()),
        (pack::VERSION, version(derived, &packer())),
        (pack::PLAN, derived.plan()),
        (pack::ENVIRONMENT, derived.environment()),
        (pack::PAGE, derived.page()),
    ]);
    store.pack(&id, &texts, Path::new(&output), matches.get_flag("yes"))?;
    let output = escape(&output);
    context::print(&format!(
        "run {id} is packed into {output}; on another host: `mindful import {output}`, then `mindful run --again {id}`\n"
    ))
}

/// Version and hash of this binary.
pub(crate) fn packer() -> String {
    format!("{}, SHA-256 {}", version::line(), binary::hash().unwrap_or(NOT_STATED))
}

/// Which binaries measured and packed, and how the run is repeated.
pub(crate) fn version(Derivation { run, analysis }: Derivation, packed_by: &str) -> String {
    let measured = escape(run.head.mindful_build.as_ref().unwrap_or(&run.head.mindful_version));
    let measured_by = escape(Fact::BinaryHash.find(&run.environment).map_or(NOT_STATED, String::as_str));
    let repeat = match repeat(run, &analysis.summary) {
        Repeat::Commands(commands) => format!("to repeat it: {}", escape(&commands.join(" && "))),
        Repeat::OfAnotherTool(what) => format!("another tool measured it: {}", escape(&what)),
    };
    format!(
        "format {}\nmeasured by mindful {measured}, SHA-256 {measured_by}\n{PACKED_BY}{}\n{repeat}\n",
        run.head.format,
        escape(packed_by)
    )
}
