//! `mindful engines`: lists and explains the engines.

use std::fmt::Write as _;

use clap::{Arg, ArgMatches};
use mindful_core::contract::engine::Engine;
use mindful_core::{Error, Result};
use serde_json::json;

use crate::args::flags::{option, switch};
use crate::context;
use crate::exit::Exit;
use crate::registry::{self, ENGINES};
use crate::verb::{Action, Verb};

pub(super) const VERB: Verb = Verb {
    name: "engines",
    about: "List the engines, their capabilities and their options",
    details: "",
    example: "mindful engines postgres",
    page: "docs/plans.md",
    plan: None,
    arguments: || {
        vec![
            Arg::new("engine").value_name("NAME").help("Show this engine only, with its options"),
            switch("grants", "grants").help("Print the minimal role for mindful as SQL for an administrator"),
            option("for", "target", "URL").requires("grants").help("Fill in the names of this target in --grants"),
        ]
    },
    action: Action::Run(engines),
};

fn engines(matches: &ArgMatches) -> Result<Exit> {
    let name = matches.get_one::<String>("engine");
    let shown: Vec<_> = ENGINES.iter().filter(|engine| name.is_none_or(|name| name == engine.name())).collect();
    if let Some(name) = name.filter(|_| shown.is_empty()) {
        let names: Vec<_> = ENGINES.iter().map(|engine| engine.name()).collect();
        return Err(Error::plan(format!("unknown engine `{name}`"), format!("choose {}", names.join(", "))));
    }
    let text = if matches.get_flag("grants") {
        match matches.get_one::<String>("for") {
            Some(url) => grants_for(url)?,
            None => shown.iter().filter_map(|engine| engine.facts().grants).collect::<Vec<_>>().join("\n"),
        }
    } else if context::wants_json(matches) {
        let all: Vec<_> = shown.iter().map(|engine| as_json(**engine)).collect();
        format!("{:#}\n", serde_json::Value::from(all))
    } else {
        let all = shown.iter().map(|engine| as_text(**engine, name.is_some())).collect::<Vec<_>>().join("\n");
        if name.is_some() { all } else { format!("{all}\nOptions of an engine: mindful engines NAME\n") }
    };
    if text.is_empty() {
        return Err(Error::plan("this engine has no roles", "try `mindful engines postgres --grants`"));
    }
    context::print(&text)
}

/// The script of the engine of `url`, with the names of that target.
fn grants_for(url: &str) -> Result<String> {
    let engine = registry::find(url)?;
    let names = engine.grant_names(url)?;
    let own = |line: &&str| !line.contains("`--target URL` replaces");
    let filled = |line: &str| {
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let words = line.split_inclusive(|c: char| !is_name(c)).map(|word| {
            let name = word.trim_end_matches(|c: char| !is_name(c));
            let new = names.iter().find(|(example, _)| *example == name).map(|(_, new)| new.as_str());
            format!("{}{}", new.unwrap_or(name), &word[name.len()..])
        });
        words.collect::<String>() + "\n"
    };
    Ok(engine.facts().grants.unwrap_or_default().lines().filter(own).map(filled).collect())
}

fn capabilities(engine: &dyn Engine) -> [(&'static str, bool); 9] {
    let can = engine.capabilities();
    [
        ("loads", can.loads),
        ("updates", can.updates),
        ("scans", can.scans),
        ("server-side loop", can.server_side_loop),
        ("client-side loop", can.client_side_loop),
        ("rate", can.rate),
        ("commit modes", can.commit_modes),
        ("concurrent writers", can.concurrent_writers),
        ("access paths", can.access_paths),
    ]
}

fn as_text(engine: &dyn Engine, with_options: bool) -> String {
    let named = |able: bool| {
        let names: Vec<_> = capabilities(engine).into_iter().filter(|c| c.1 == able).map(|c| c.0).collect();
        if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
    };
    let mut text = format!("{}: {}\n", engine.name(), engine.facts().summary);
    // Writing to a string cannot fail.
    let _ = writeln!(text, "  targets  {}", engine.facts().schemes.join(", "));
    let _ = writeln!(text, "  can      {}", named(true));
    let _ = writeln!(text, "  cannot   {}", named(false));
    for key in engine.options().iter().filter(|_| with_options) {
        let _ = writeln!(text, "  --{:<22} {}", format!("{} {}", key.flag_name(), key.value), key.help_text());
    }
    text
}

fn as_json(engine: &dyn Engine) -> serde_json::Value {
    let options: Vec<_> = engine
        .options()
        .iter()
        .map(|key| {
            let bound = Some(key.bound.to_string()).filter(|bound| !bound.is_empty());
            json!({
                "name": key.name,
                "value": key.value,
                "default": key.default,
                "bound": bound,
                "help": key.help,
            })
        })
        .collect();
    json!({
        "name": engine.name(),
        "summary": engine.facts().summary,
        "schemes": engine.facts().schemes,
        "capabilities": serde_json::to_value(engine.capabilities()).unwrap_or_default(),
        "options": options,
    })
}
