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

use crate::verb::{Group, PlanKeys, Shown, Verb};
use crate::version;

const NAME: &str = "mindful";
const GENERAL: &str = "General";
/// Help is as wide as this, or as the terminal if that is narrower.
const WIDEST_HELP: usize = 100;

const AFTER_VERBS: &str = "\
`mindful VERB --help` shows the usual flags of a verb, `mindful help VERB` all of them.
`mindful engines NAME` shows the options of an engine, `mindful plan` every value and its origin.
Exit codes: 0 valid, 1 run invalid, 2 usage or plan, 3 target, 4 gate crossed, 130 interrupted.";

/// Parses the command line by the verbs in `verbs`; prints help and version itself.
pub(crate) fn parse(verbs: &[&Verb], args: impl IntoIterator<Item = OsString>) -> Result<ArgMatches> {
    let args: Vec<OsString> = args.into_iter().collect();
    let parsed = match Asked::of(&args) {
        Asked::Verb(verb) => {
            grammar(verbs, Shown::Common, Some(verb.as_deref().unwrap_or_default())).try_get_matches_from(args)
        }
        Asked::WholeHelp(verb) => {
            let help = [Some(NAME), verb.as_deref(), Some("--help")];
            grammar(verbs, Shown::AllKeys, verb.as_deref()).try_get_matches_from(help.into_iter().flatten())
        }
    };
    parsed.or_else(|error| match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            error.exit()
        }
        _ => Err(refusal::one_line(&error, verbs.iter().map(|verb| verb.name))),
    })
}

pub(crate) fn every_verb(verbs: &[&Verb], shown: Shown) -> Command {
    grammar(verbs, shown, None)
}

/// The kind of command line, by a first pass that ignores errors.
enum Asked {
    Verb(Option<String>),
    /// All flags of a verb, or of the program.
    WholeHelp(Option<String>),
}

impl Asked {
    fn of(args: &[OsString]) -> Self {
        let look = Command::new(NAME).args(globals()).allow_external_subcommands(true).ignore_errors(true);
        let look = look.disable_help_flag(true).disable_help_subcommand(true);
        let mut look = look.mut_arg("help", |help| help.action(ArgAction::SetTrue));
        let matches = look.try_get_matches_from_mut(args).ok();
        let found = matches.as_ref().and_then(ArgMatches::subcommand);
        let verb = found.map(|(verb, _)| verb.to_owned());
        if let Some(("help", topics)) = found {
            let topics = topics.get_many::<OsString>("").into_iter().flatten().map(|topic| topic.to_string_lossy());
            return Self::WholeHelp(topics.map(Cow::into_owned).find(|topic| !topic.starts_with('-')));
        }
        let whole = args.iter().take_while(|arg| *arg != "--").any(|arg| arg == "--help-all");
        if whole { Self::WholeHelp(verb) } else { Self::Verb(verb) }
    }
}

/// All verbs. With `only`, the others have no flags.
fn grammar(verbs: &[&Verb], shown: Shown, only: Option<&str>) -> Command {
    let all = verbs.iter().map(|verb| {
        let bare = Command::new(verb.name).about(verb.about).hide(verb.group.is_none());
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
            overview(verbs)
        ))
        .after_help(AFTER_VERBS)
}

fn overview(verbs: &[&Verb]) -> String {
    let mut text = String::new();
    for (group, heading) in Group::ALL {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{heading}:");
        for verb in verbs.iter().filter(|verb| verb.group == Some(group)) {
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
        PlanKeys::None => command.after_help(more(verb, "")).args((verb.arguments)()),
        PlanKeys::Shown(keys) => {
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
    use crate::commands::VERBS;

    fn refusal(line: &[&str]) -> String {
        let line = ["mindful"].iter().chain(line).map(OsString::from);
        parse(VERBS, line).unwrap_err().to_string()
    }

    fn help(verb: &Verb, shown: Shown) -> String {
        let mut all = grammar(VERBS, shown, Some(verb.name));
        all.build();
        all.find_subcommand_mut(verb.name).unwrap().render_help().to_string()
    }

    #[test]
    fn the_grammar_is_sound() {
        grammar(VERBS, Shown::Everything, None).debug_assert();
    }

    #[test]
    fn every_argument_of_every_verb_has_a_help_text() {
        for verb in grammar(VERBS, Shown::Everything, None).get_subcommands() {
            for arg in verb.get_arguments() {
                let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
                let text = help.split('[').next().unwrap_or_default().trim();
                assert!(!text.is_empty(), "`mindful {} --help` does not explain {}", verb.get_name(), arg.get_id());
            }
        }
    }

    #[test]
    fn the_help_of_a_verb_fits_a_page() {
        for verb in VERBS {
            let text = help(verb, Shown::Common);
            let widest = text.lines().map(|line| line.chars().count()).max().unwrap();
            assert!(text.lines().count() <= 50 && widest <= WIDEST_HELP, "{text}");
        }
    }

    #[test]
    fn every_verb_names_a_page_that_exists() {
        for verb in VERBS {
            let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(verb.page);
            assert!(page.is_file(), "{}: {}", verb.name, verb.page);
        }
    }

    #[test]
    fn every_key_that_a_verb_shows_exists() {
        for verb in VERBS {
            let PlanKeys::Shown(keys) = verb.plan else { continue };
            for key in keys {
                assert!(mindful_core::plan::KEYS.iter().any(|known| known.name == *key), "{}: {key}", verb.name);
            }
        }
    }

    #[test]
    fn an_unknown_flag_is_answered_with_the_nearest() {
        assert_eq!(refusal(&["run", "--sesions", "4"]), "unknown flag `--sesions`: did you mean `--sessions`?");
        assert_eq!(refusal(&["rnu"]), "unknown verb `rnu`: did you mean `run`?");
        assert_eq!(refusal(&["help", "rnu"]), "unknown verb `rnu`: did you mean `run`?");
        assert_eq!(refusal(&["list", "--format", "xml"]), "--format <FORMAT>: invalid value `xml`: choose text, json");
    }

    #[test]
    fn a_flag_without_its_value_is_refused() {
        assert_eq!(refusal(&["run", "--data-dir"]), "--data-dir needs a value: pass --data-dir <DIR>");
        for flag in ["store", "plan", "data-dir", "fetch-dir", "target", "meet"] {
            let text = refusal(&["run", &format!("--{flag}="), "--target", "null:"]);
            assert!(text.starts_with(&format!("--{flag} needs a value")), "{text}");
        }
    }
}
