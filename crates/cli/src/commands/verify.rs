//! `mindful verify`: proves the layout of what is loaded, anew.

use clap::ArgMatches;
use mindful_core::Result;
use mindful_core::contract::event::Events;
use mindful_core::dataset::LayoutProof;
use mindful_core::plan::units::format_counted;
use serde_json::json;

use crate::context;
use crate::exit::Exit;

/// Proves by a sample, or with `--full` by a look at every block; stores the proof for later runs.
pub fn verify(matches: &ArgMatches) -> Result<Exit> {
    let context = context::of(matches)?;
    let target = context.open()?;
    let events: &dyn Events = &*context.recording;
    let proof = if matches.get_flag("full") {
        mindful_runner::dataset::verify_all(&*target, events, &context.stop)?
    } else {
        mindful_runner::dataset::verify(&*target, events, &context.stop)?
    };
    context.events().quiet();
    if context::wants_json(matches) {
        context::print(&context::json(json!(proof), &context.settings))?;
    } else {
        let (plan, target) = (context::found_plan(&context.settings), context.redacted_target());
        context::print(&format!("{plan}{}, on {}\n", reported(&proof), mindful_report::escape(&target)))?;
    }
    Ok(Exit::Ok)
}

fn reported(proof: &LayoutProof) -> String {
    if proof.schemas.is_empty() {
        return "all keys are there; nothing is claimed of the layout".to_owned();
    }
    let rows: u64 = proof.schemas.iter().map(|schema| schema.rows).sum();
    let looked: u64 = proof.schemas.iter().map(|schema| schema.sample.unwrap_or(schema.rows)).sum();
    let how = if proof.is_sample() {
        format!("a sample of {looked} of {rows} blocks, drawn at random; --full looks at all")
    } else {
        format!("all {rows} blocks")
    };
    format!("the layout of {} holds by {how}", format_counted(proof.schemas.len(), "schema"))
}
