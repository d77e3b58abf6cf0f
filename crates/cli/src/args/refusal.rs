//! A command line that is not understood, in one line.

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use mindful_core::Error;
use mindful_core::plan::settings::nearest;

/// clap's error in our form: what, and the next move, in one line. A verb that is none of those of `all` is named
/// with its neighbour.
pub fn one_line(error: &clap::Error, all: &Command) -> Error {
    let context = |kind| {
        error.get(kind).map(|value| match value {
            ContextValue::String(text) => text.clone(),
            ContextValue::Strings(texts) => texts.join(", "),
            other => other.to_string(),
        })
    };
    let arg = context(ContextKind::InvalidArg).unwrap_or_default();
    let near = context(ContextKind::SuggestedArg)
        .or_else(|| context(ContextKind::SuggestedSubcommand))
        .or_else(|| context(ContextKind::SuggestedValue))
        .map(|name| format!("did you mean `{name}`?"));
    match error.kind() {
        ErrorKind::UnknownArgument => {
            Error::plan(format!("unknown flag `{arg}`"), near.unwrap_or_else(|| "see --help".to_owned()))
        }
        ErrorKind::InvalidSubcommand => unknown_verb(&context(ContextKind::InvalidSubcommand).unwrap_or_default(), all),
        ErrorKind::InvalidValue if context(ContextKind::InvalidValue).is_none_or(|value| value.is_empty()) => {
            let flag = arg.split_whitespace().next().unwrap_or(&arg).to_owned();
            Error::plan(format!("{flag} is given without a value"), format!("give one: {arg}"))
        }
        ErrorKind::InvalidValue => Error::plan(
            format!("{arg}: `{}` is no value for it", context(ContextKind::InvalidValue).unwrap_or_default()),
            near.or_else(|| context(ContextKind::ValidValue).map(|valid| format!("choose {valid}")))
                .unwrap_or_else(|| "give a value".to_owned()),
        ),
        ErrorKind::ArgumentConflict => Error::plan(format!("{arg} is given twice"), "give it once"),
        _ => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or("the command line is not understood");
            Error::plan(first.trim_start_matches("error: "), "see --help")
        }
    }
}

fn unknown_verb(given: &str, all: &Command) -> Error {
    let near = nearest(given, all.get_subcommands().map(Command::get_name));
    let next =
        near.map_or_else(|| "`mindful --help` lists the verbs".to_owned(), |name| format!("did you mean `{name}`?"));
    Error::plan(format!("unknown verb `{given}`"), next)
}
