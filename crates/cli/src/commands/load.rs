//! `mindful load`: the dataset, and the proof of its layout.

use clap::ArgMatches;
use mindful_core::Result;
use mindful_core::contract::event::Events;
use mindful_core::plan::units;
use serde_json::json;

use crate::context;
use crate::exit::Exit;

/// Loads what the plan asks for, or completes it; proves the layout either way.
pub fn load(matches: &ArgMatches) -> Result<Exit> {
    let context = context::of(matches)?;
    // Who loads means to run: a store without room is reported now, not after the load.
    context.store.probe()?;
    let target = context.open()?;
    let events: &dyn Events = &*context.recording;
    let description = target.describe()?;
    let asked = context.plan.dataset(description.block_bytes)?;
    let dataset = match target.dataset()? {
        // What is there need not be named again to be completed or proven.
        Some(_) if context.plan.scale.is_none() || context.plan.schemas.is_none() => {
            let ensured = mindful_runner::dataset::ensure(
                &*target,
                &context.plan,
                &description,
                events,
                &context.stop,
                &*context.clock,
            )?;
            mindful_runner::dataset::verify(&*target, events, &context.stop)?;
            ensured.dataset
        }
        _ => mindful_runner::dataset::load(&*target, &asked, events, &context.stop, &*context.clock)?,
    };
    context.events().quiet();
    if context::wants_json(matches) {
        context::print(&context::json(json!(dataset), &context.settings))?;
    } else {
        context::print(&format!(
            "{}{} of {} of {} each ({} in all) loaded and proven on {}\n",
            context::found_plan(&context.settings),
            units::format_counted(dataset.schemas, "schema"),
            units::format_counted(dataset.blocks_per_schema, "block"),
            units::format_bytes(dataset.block_bytes),
            units::format_bytes(dataset.bytes),
            mindful_report::escape(&context.redacted_target()),
        ))?;
    }
    Ok(Exit::Ok)
}
