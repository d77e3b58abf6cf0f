//! The command line: clap's grammar, generated from the table of verbs and the tables of plan keys and engine options.
//!
//! Starting must be quick, and a hundred flags for each of a dozen verbs take time to build. Therefore a first pass
//! finds the verb, and only that verb gets its plan flags. `mindful VERB --help-all` and `mindful help VERB` are
//! `--help` of a grammar that shows every key.

pub(crate) mod flags;
pub(crate) mod plan_flags;
mod refusal;

use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt::Write as _;

use clap::builder::NonEmptyStringValueParser;
use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgMatches, Command};
use mindful_core::Result;

use crate::verb::{Groups, Shown, Verb};
use crate::version;

const NAME: &str = "mindful";
const GENERAL: &str = "General";
/// Help is as wide as this, or as the terminal if that is narrower.
const WIDEST_HELP: usize = 100;

const AFTER_VERBS: &str = "\
`mindful VERB --help` shows the usual flags of a verb, `mindful help VERB` all of them.
`mindful engines NAME` shows the options of an engine, `mindful plan` every value and its origin.
Exit codes: 0 valid, 1 run invalid, 2 usage or plan, 3 target, 4 gate crossed, 130 interrupted.";

/// Parses the command line by the verbs in `groups`; prints help and version itself.
pub(crate) fn parse(groups: Groups, args: impl IntoIterator<Item = OsString>) -> Result<ArgMatches> {
    let args: Vec<OsString> = args.into_iter().collect();
    let (verb, whole_help) = first_pass(&args);
    let parsed = if whole_help {
        let help = [Some(NAME), verb.as_deref(), Some("--help")];
        grammar(groups, Shown::AllKeys, verb.as_deref()).try_get_matches_from(help.into_iter().flatten())
    } else {
        grammar(groups, Shown::Common, Some(verb.as_deref().unwrap_or_default())).try_get_matches_from(args)
    };
    parsed.or_else(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            error.exit()
        }
        _ => Err(refusal::one_line(&error, verbs(groups).map(|verb| verb.name))),
    })
}

fn verbs(groups: Groups) -> impl Iterator<Item = &'static &'static Verb> {
    groups.iter().flat_map(|(_, verbs)| *verbs)
}

/// The verb, and whether to show all its flags, or all of the program. Ignores errors.
fn first_pass(args: &[OsString]) -> (Option<String>, bool) {
    let look = Command::new(NAME).args(globals()).allow_external_subcommands(true).ignore_errors(true);
    let look = look.disable_help_flag(true).disable_help_subcommand(true);
    let mut look = look.mut_arg("help", |help| help.action(ArgAction::SetTrue));
    let matches = look.try_get_matches_from_mut(args).ok();
    let found = matches.as_ref().and_then(ArgMatches::subcommand);
    if let Some(("help", topics)) = found {
        let topics = topics.get_many::<OsString>("").into_iter().flatten().map(|topic| topic.to_string_lossy());
        return (topics.map(Cow::into_owned).find(|topic| !topic.starts_with('-')), true);
    }
    let whole_help = args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--help-all");
    (found.map(|(verb, _)| verb.to_owned()), whole_help)
}

/// All verbs. With `only`, the others have no flags.
pub(crate) fn grammar(groups: Groups, shown: Shown, only: Option<&str>) -> Command {
    let all = groups.iter().flat_map(|(heading, verbs)| verbs.iter().map(move |verb| (heading, verb)));
    let all = all.map(|(heading, verb)| {
        let bare = Command::new(verb.name).about(verb.about).hide(heading.is_empty());
        if only.is_none_or(|only| only == verb.name) { complete(bare, verb, shown) } else { bare }
    });
    let version = Arg::new("version").long("version").short('V').action(ArgAction::Version).help_heading(GENERAL);
    Command::new(NAME)
        .version(version::line())
        .about("Measures a platform through the database that will run on it")
        .max_term_width(WIDEST_HELP)
        .subcommand_required(true)
        .arg_required_else_help(true)
        .disable_help_flag(true)
        .disable_version_flag(true)
        .args(globals())
        .arg(version.help("Print version, commit, profile and built-in engines"))
        .subcommands(all)
        .help_template(format!(
            "{{about}}\n\nUsage: mindful VERB [OPTIONS]\n\n{}{GENERAL}:\n{{options}}{{after-help}}",
            overview(groups)
        ))
        .after_help(AFTER_VERBS)
}

fn overview(groups: Groups) -> String {
    let mut text = String::new();
    for (heading, verbs) in groups.iter().filter(|(heading, _)| !heading.is_empty()) {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{heading}:");
        for verb in *verbs {
            let _ = writeln!(text, "  {:<9} {}", verb.name, verb.about);
        }
        text.push('\n');
    }
    text
}

fn complete(bare: Command, verb: &Verb, shown: Shown) -> Command {
    let details = if verb.details.is_empty() { String::new() } else { format!("\n\n{}", verb.details) };
    let command = bare
        .before_help(format!("{}{details}", verb.about))
        .help_template("{before-help}{usage-heading} {usage}\n\n{all-args}{after-help}")
        .disable_help_flag(true);
    match verb.plan {
        None => command.after_help(more(verb, "")).args((verb.arguments)()),
        Some(keys) => {
            let all = format!("mindful help {} (all keys), mindful engines NAME (options of an engine), ", verb.name);
            let command = plan_flags::with_plan(command, keys, shown);
            command.after_help(more(verb, &all)).args((verb.arguments)())
        }
    }
}

fn more(verb: &Verb, all: &str) -> String {
    format!("Example: {}\nMore: {all}{}", verb.example, verb.page)
}

fn globals() -> [Arg; 7] {
    let global = |name, flag| Arg::new(name).long(flag).global(true).help_heading(GENERAL);
    let value = |name, value| global(name, name).value_name(value).value_parser(NonEmptyStringValueParser::new());
    let switch = |name, short| global(name, name).short(short).action(ArgAction::SetTrue);
    [
        value("store", "DIR").help("Folder of stored runs [default: user's data directory; MINDFUL_STORE]"),
        value("format", "FORMAT")
            .value_parser(["text", "json"])
            .hide_possible_values(true)
            .default_value("text")
            .help("Output format: text or json"),
        value("plan", "FILE").help("Plan file [default: mindful.toml in the current folder]"),
        switch("yes", 'y').help("Answer yes to all questions"),
        switch("quiet", 'q').help("Print only the result, no progress"),
        global("help", "help").short('h').action(ArgAction::Help).help("Print this help"),
        global("help_all", "help-all").action(ArgAction::SetTrue).help("Print help with every flag"),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::GROUPS;

    #[test]
    fn the_grammar_is_sound() {
        grammar(GROUPS, Shown::Everything, None).debug_assert();
    }

    #[test]
    fn every_argument_of_every_verb_has_a_help_text() {
        for verb in grammar(GROUPS, Shown::Everything, None).get_subcommands() {
            for arg in verb.get_arguments() {
                let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
                let text = help.split('[').next().unwrap_or_default().trim();
                assert!(!text.is_empty(), "`mindful {} --help` does not explain {}", verb.get_name(), arg.get_id());
            }
        }
    }

    #[test]
    fn every_verb_names_a_page_and_keys_that_exist() {
        for verb in verbs(GROUPS) {
            let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(verb.page);
            assert!(page.is_file(), "{}: {}", verb.name, verb.page);
            for key in verb.plan.unwrap_or_default().split(' ').filter(|key| !key.is_empty()) {
                assert!(mindful_core::plan::KEYS.iter().any(|known| known.name == key), "{}: {key}", verb.name);
            }
        }
    }
}
