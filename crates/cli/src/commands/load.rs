//! `mindful load`: loads the dataset of the plan, or completes it, and verifies its layout.

use clap::ArgMatches;
use mindful_core::Result;
use mindful_core::contract::event::Events;
use mindful_core::plan::units;
use serde_json::json;

use crate::context;
use crate::exit::Exit;
use crate::verb::{Action, Verb};

pub(super) const VERB: Verb = Verb {
    name: "load",
    about: "Load the dataset, or complete it, and verify its layout",
    details: "",
    example: "mindful load --target postgres://host/db --scale 4GiB --schemas 8",
    page: "docs/own-server.md",
    plan: Some("target scale schemas seed scan_table content compress_ratio dedupe_ratio load_streams"),
    arguments: || Vec::new(),
    action: Action::Run(load),
};

fn load(matches: &ArgMatches) -> Result<Exit> {
    let context = context::of(matches)?;
    // A run follows the load, so fail now if the store is full.
    context.store.probe()?;
    let target = context.open()?;
    let events: &dyn Events = &*context.recording;
    let description = target.describe()?;
    let asked = context.plan.dataset(description.block_bytes)?;
    let dataset = match target.dataset()? {
        // An existing dataset is completed in its own size.
        Some(_) if context.plan.scale.is_none() || context.plan.schemas.is_none() => {
            let ensured = mindful_runner::dataset::ensure(
                &*target,
                &context.plan,
                &description,
                events,
                &context.stop,
                &*context.clock,
            )?;
            mindful_runner::dataset::verify(&*target, false, events, &context.stop)?;
            ensured.dataset
        }
        _ => mindful_runner::dataset::load(&*target, &asked, events, &context.stop, &*context.clock)?,
    };
    context.events().quiet();
    if context::wants_json(matches) {
        context::print(&context::json(json!(dataset), &context.settings))
    } else {
        context::print(&format!(
            "{}{} of {} of {} each ({} in total) loaded and verified on {}\n",
            context::found_plan(&context.settings),
            units::format_counted(dataset.schemas, "schema"),
            units::format_counted(dataset.blocks_per_schema, "block"),
            units::format_bytes(dataset.block_bytes),
            units::format_bytes(dataset.bytes),
            mindful_report::escape(&context.redacted_target()),
        ))
    }
}
