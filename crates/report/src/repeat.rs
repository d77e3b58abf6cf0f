//! The commands that repeat a run on another host.

use mindful_analyze::io_job;
use mindful_core::plan::KEYS;
use mindful_core::plan::settings::{Origin, Setting};
use mindful_core::record::run::Run;
use mindful_core::result::Summary;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Repeat {
    /// Two commands: the first fetches the run, the second repeats the measurement.
    Commands([String; 2]),
    /// Another tool measured it and must repeat it.
    OfAnotherTool(String),
}

/// How `run` is repeated.
pub fn repeat(run: &Run, summary: &Summary) -> Repeat {
    if let Some(imported) = &run.head.imported {
        return Repeat::OfAnotherTool(imported.what.clone());
    }
    let id = &run.head.id;
    let is_job = run.steps.iter().any(|step| io_job::load(&step.head.point).is_some());
    let is_shared = !run.targets.is_empty() || run.steps.iter().any(|step| !step.ranks.is_empty());
    let measure = match (is_job, summary.contrast.is_some()) {
        (true, _) => with_flags("raw", run),
        (_, true) => with_flags("contrast", run),
        _ if is_shared => with_flags(if summary.steps.len() > 1 { "sweep" } else { "run" }, run),
        _ => format!("mindful run --again {id}"),
    };
    Repeat::Commands([format!("mindful import {id}.tar.zst"), measure])
}

/// `verb` with the user's settings, as flags.
fn with_flags(verb: &str, run: &Run) -> String {
    let mut words = vec!["mindful".to_owned(), verb.to_owned()];
    let given = run.head.settings.iter().filter(|(_, setting)| setting.origin != Origin::Default);
    for (key, Setting { value, origin }) in given {
        match origin {
            // A value without a flag is a separate argument.
            Origin::Flag(name) if !name.starts_with("--") => words.push(quoted(value)),
            _ => words.extend(flag_words(key, value).iter().map(|word| quoted(word))),
        }
    }
    words.join(" ")
}

/// The flag of `key` with its value; a switch takes it after an equals sign.
pub fn flag_words(key: &str, value: &str) -> Vec<String> {
    let flag = format!("--{}", key.replace('_', "-"));
    match KEYS.iter().find(|known| known.name == key) {
        Some(known) if known.value.is_empty() => vec![format!("{flag}={value}")],
        _ => vec![flag, value.to_owned()],
    }
}

/// `text` as one word of a shell.
pub fn quoted(text: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,:=@%".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        text.to_owned()
    } else {
        format!("'{}'", text.replace('\'', "'\\''"))
    }
}
