//! `mindful cleanup`: lists everything that mindful created on the target and removes it after a confirmation.

use std::fmt::Write as _;

use clap::ArgMatches;
use mindful_core::Result;
use mindful_core::contract::OwnedObject;
use mindful_core::plan::units;
use mindful_report::escape;
use mindful_runner::Context;

use crate::exit::Exit;
use crate::verb::{Action, Verb};
use crate::{context, question};

pub(super) const VERB: Verb = Verb {
    name: "cleanup",
    about: "Remove the dataset and everything else that mindful created",
    details: "Cleanup lists what it will remove, and asks before it does.",
    example: "mindful cleanup --target postgres://host/db",
    page: "docs/own-server.md",
    plan: Some("target"),
    arguments: || Vec::new(),
    action: Action::Run(cleanup),
};

fn cleanup(matches: &ArgMatches) -> Result<Exit> {
    let context = context::of(matches)?;
    if context.would_make()?.is_some() {
        context.events().quiet();
        return context::print(&listing(&[], &context));
    }
    let target = context.open()?;
    let mut inventory = target.inventory()?;
    inventory.extend(target.instance()?);
    context.events().quiet();
    context::print(&listing(&inventory, &context))?;
    let ours = inventory.iter().filter(|object| object.kept_because.is_none()).count();
    if ours == 0 {
        return Ok(Exit::Ok);
    }
    if !matches.get_flag("yes") && !context.stop.run_expendable(|| question::yes("cleanup", "Remove these?"))? {
        return context::print("nothing was removed\n");
    }
    let mut removed = target.cleanup()?;
    removed.extend(target.remove_instance()?);
    let removed = removed.iter().filter(|object| object.kept_because.is_none()).count();
    context::print(&format!("{removed} removed\n"))
}

fn listing(inventory: &[OwnedObject], context: &Context) -> String {
    let (plan, target) = (context::found_plan(&context.settings), context.redacted_target());
    if inventory.is_empty() {
        return format!("{plan}mindful has nothing on {}\n", escape(&target));
    }
    let mut text = format!("{plan}on {}:\n", escape(&target));
    for object in inventory {
        let size = object.bytes.map_or_else(String::new, |bytes| format!(" ({})", units::format_bytes(bytes)));
        let fate = match &object.kept_because {
            None => "remove".to_owned(),
            Some(reason) => format!("keep, {}", escape(reason)),
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {}{size}: {fate}", escape(&object.name));
    }
    text
}
