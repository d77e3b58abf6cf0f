//! `mindful verify`: proves the layout of the loaded dataset by a sample or by every block, and stores the proof.

use clap::ArgMatches;
use mindful_core::Result;
use mindful_core::contract::event::Events;
use mindful_core::dataset::LayoutProof;
use mindful_core::plan::units::{format_counted, format_whole};
use serde_json::json;

use crate::args::flags::switch;
use crate::context;
use crate::exit::Exit;
use crate::verb::{Action, Verb};

pub(super) const VERB: Verb = Verb {
    name: "verify",
    about: "Verify the layout of a loaded dataset",
    details: "Verify checks a random sample of blocks, and stores the proof for later runs.",
    example: "mindful verify --target postgres://host/db",
    page: "docs/own-server.md",
    plan: Some("target"),
    arguments: || vec![switch("full", "full").help("Check every block instead of a sample")],
    action: Action::Run(verify),
};

fn verify(matches: &ArgMatches) -> Result<Exit> {
    let context = context::of(matches)?;
    let target = context.open()?;
    let events: &dyn Events = &*context.recording;
    let proof = mindful_runner::dataset::verify(&*target, matches.get_flag("full"), events, &context.stop)?;
    context.events().quiet();
    if context::wants_json(matches) {
        context::print(&context::json(json!(proof), &context.settings))
    } else {
        let (plan, target) = (context::found_plan(&context.settings), context.redacted_target());
        context::print(&format!("{plan}{}, on {}\n", describe(&proof), mindful_report::escape(&target)))
    }
}

fn describe(proof: &LayoutProof) -> String {
    if proof.schemas.is_empty() {
        return "all keys exist; this target has no layout to verify".to_owned();
    }
    let rows: u64 = proof.schemas.iter().map(|schema| schema.rows).sum();
    let looked: u64 = proof.schemas.iter().map(|schema| schema.sample.unwrap_or(schema.rows)).sum();
    let how = if proof.is_sample() {
        format!("a random sample of {} of {}; --full checks all", format_whole(looked), format_counted(rows, "block"))
    } else {
        format!("all {}", format_counted(rows, "block"))
    };
    format!("the layout of {} is right: checked {how}", format_counted(proof.schemas.len(), "schema"))
}
