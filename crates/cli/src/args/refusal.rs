//! clap's errors as one line: the fault and the remedy.

use clap::error::{ContextKind, ContextValue, ErrorKind};
use mindful_core::Error;
use mindful_core::plan::settings::nearest;

/// clap's error in our form. An unknown verb is named with the nearest of `verbs`.
pub(super) fn one_line(error: &clap::Error, verbs: impl Iterator<Item = &'static str>) -> Error {
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
        ErrorKind::InvalidSubcommand => {
            unknown_verb(&context(ContextKind::InvalidSubcommand).unwrap_or_default(), verbs)
        }
        ErrorKind::InvalidValue if context(ContextKind::InvalidValue).is_none_or(|value| value.is_empty()) => {
            let flag = arg.split_whitespace().next().unwrap_or(&arg).to_owned();
            Error::plan(format!("{flag} needs a value"), format!("pass {arg}"))
        }
        ErrorKind::InvalidValue => Error::plan(
            format!("{arg}: invalid value `{}`", context(ContextKind::InvalidValue).unwrap_or_default()),
            near.or_else(|| context(ContextKind::ValidValue).map(|valid| format!("choose {valid}")))
                .unwrap_or_else(|| "see --help".to_owned()),
        ),
        ErrorKind::ArgumentConflict => match context(ContextKind::PriorArg).filter(|prior| *prior != arg) {
            Some(prior) => Error::plan(format!("{arg} cannot be combined with {prior}"), "drop one of them"),
            None => Error::plan(format!("{arg} is given twice"), "give it once"),
        },
        _ => {
            let text = error.to_string();
            let first = text.lines().next().unwrap_or("invalid command line");
            Error::plan(first.trim_start_matches("error: "), "see --help")
        }
    }
}

fn unknown_verb(given: &str, verbs: impl Iterator<Item = &'static str>) -> Error {
    let near = nearest(given, verbs);
    let next =
        near.map_or_else(|| "`mindful --help` lists the verbs".to_owned(), |name| format!("did you mean `{name}`?"));
    Error::plan(format!("unknown verb `{given}`"), next)
}
