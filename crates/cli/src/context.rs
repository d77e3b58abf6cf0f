//! What verbs share: the surroundings of a run from the command line, and how text leaves on stdout.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::sync::Arc;

use clap::ArgMatches;
use mindful_core::contract::clock::HostClock;
use mindful_core::contract::event::{Events, Silent};
use mindful_core::contract::resolved::Resolved;
use mindful_core::plan::settings::Settings;
use mindful_core::ranks::rank::Rank;
use mindful_core::record::run::Run;
use mindful_core::{Engine, Error, Result};
use mindful_report::live::Live;
use mindful_report::live::screen::Screen;
use mindful_report::{Style, escape};
use mindful_runner::Context;
use serde_json::Value;

use crate::{layers, registry, signals, store, targets, version};

/// Layers the settings, resolves the plan and finds its engine. Opens nothing.
pub fn of(matches: &ArgMatches) -> Result<Context> {
    with(layers::settings(matches)?, matches)
}

/// The same for settings that are already layered: here they are parsed, once.
pub fn with(settings: Settings, matches: &ArgMatches) -> Result<Context> {
    targets::refuse_several(&settings)?;
    let engine = registry::of(&settings)?;
    of_resolved(Resolved::parse(engine, settings)?, engine, matches)
}

/// The same for what is parsed already.
pub fn of_resolved(resolved: Resolved, engine: &'static dyn Engine, matches: &ArgMatches) -> Result<Context> {
    let live = live(matches)?;
    let store = store::open(matches)?;
    let context = Context::new(resolved, engine, store, live, signals::stop_on_signal()?, Arc::new(HostClock))?;
    Ok(Context { build: Some(version::line()), ..context })
}

/// What the environment says; bytes that are no text come as marks, so that whoever reads it refuses what is not understood.
pub fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// The same for a verb that one process does by itself.
///
/// # Errors
/// A launcher started several of it.
pub fn alone(settings: Settings, matches: &ArgMatches) -> Result<Context> {
    refuse_ranks(with(settings, matches)?)
}

/// `context`, unless a launcher started several of this process.
pub fn refuse_ranks(context: Context) -> Result<Context> {
    match Rank::detect(&context.settings, &variable)? {
        None => Ok(context),
        Some(rank) => Err(Error::plan(
            format!(
                "rank {} of {} ({}): ranks share one step, that of `mindful run`",
                rank.number, rank.count, rank.source
            ),
            "start one process without --rank and --ranks, or give --ranks 1 to each: then it takes all steps by itself",
        )),
    }
}

/// What shows a run while it goes on: nothing, lines, or the whole terminal, where there is one.
fn live(matches: &ArgMatches) -> Result<Arc<dyn Events>> {
    let terminal = std::io::stderr().is_terminal();
    if is_quiet(matches) {
        return Ok(Arc::new(Silent));
    }
    if !is_full_screen(matches) {
        return Ok(Arc::new(Live::new(terminal)));
    }
    if !has_screen(matches) {
        tell("there is no terminal for --live: a line every ten seconds instead");
        return Ok(Arc::new(Live::new(terminal)));
    }
    Ok(Arc::new(Screen::open(wants_colour(), signals::interrupt)?))
}

/// Whether the whole terminal is asked for, and there is one.
pub fn has_screen(matches: &ArgMatches) -> bool {
    let terminal = std::io::stderr().is_terminal() && std::io::stdin().is_terminal();
    is_full_screen(matches) && !is_quiet(matches) && terminal
}

/// Whether the whole terminal is asked for.
fn is_full_screen(matches: &ArgMatches) -> bool {
    matches.try_get_one::<bool>("live").ok().flatten().is_some_and(|live| *live)
}

/// Whether nobody asked for no colour.
fn wants_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

/// Whether output shall be JSON.
pub fn wants_json(matches: &ArgMatches) -> bool {
    matches.get_one::<String>("format").is_some_and(|format| format == "json")
}

/// Whether only the result is wanted, and no word of how it goes on.
fn is_quiet(matches: &ArgMatches) -> bool {
    matches.get_flag("quiet")
}

/// Tells something on stderr, in one line, beside what goes to stdout.
pub fn tell(line: &str) {
    // With stderr gone there is nobody left to tell.
    let _ = writeln!(std::io::stderr(), "mindful: {}", mindful_report::escape(line));
}

/// Columns where nobody says how many there are: all tables of a report fit.
const WIDE: usize = 120;

/// How stdout wants its text.
pub fn style() -> Style {
    let terminal = std::io::stdout().is_terminal();
    let colour = terminal && wants_colour();
    Style { width: columns().unwrap_or(WIDE), colour, ascii: !is_utf8(variable) }
}

/// Whether the locale that `variable` tells has more than ASCII: the first of the three that is set decides.
fn is_utf8(variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable).find(|value| !value.is_empty());
    set.is_some_and(|locale| locale.to_lowercase().replace('-', "").contains("utf8"))
}

/// Columns of the output: those of the terminal, or what `COLUMNS` says; `None` where neither is there.
pub fn columns() -> Option<usize> {
    let terminal = std::io::stdout().is_terminal();
    let size = if terminal { rustix::termios::tcgetwinsize(std::io::stdout()).ok() } else { None };
    let said = || std::env::var("COLUMNS").ok()?.parse().ok();
    size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0).or_else(said).filter(|n| *n > 0)
}

/// The first line of what a verb tells: the plan file that was read without being named, if there is one.
pub fn found_plan(settings: &Settings) -> String {
    settings.found_in().map_or_else(String::new, |path| format!("plan: {}, read by itself\n", escape(path)))
}

/// The same of runs that were made earlier, each plan file once.
pub fn found_plans<'a>(runs: impl Iterator<Item = &'a Run>) -> String {
    runs.map(|run| found_plan(&run.head.settings)).collect::<BTreeSet<_>>().into_iter().collect()
}

/// An object for programs, with the plan file that was read without being named as `plan_file`, if there is one.
pub fn json(mut object: Value, settings: &Settings) -> String {
    if let Some(path) = settings.found_in() {
        object["plan_file"] = path.into();
    }
    format!("{object:#}\n")
}

/// Prints on stdout.
pub fn print(text: &str) -> Result<()> {
    offer(text).map(drop)
}

/// Prints on stdout; tells whether anyone still reads.
pub fn offer(text: &str) -> Result<bool> {
    offer_bytes(mindful_report::escape_json(text).as_bytes())
}

/// The same of what need not be text.
pub fn offer_bytes(bytes: &[u8]) -> Result<bool> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        // Whoever reads us has read enough.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(false),
        Err(error) => {
            Err(Error::run(format!("stdout cannot be written: {error}"), "look at where it is redirected to"))
        }
        Ok(()) => Ok(true),
    }
}

#[cfg(test)]
mod tests {
    use super::is_utf8;

    #[test]
    fn a_locale_without_utf_8_gets_ascii() {
        let of = |set: &[(&str, &str)]| {
            is_utf8(|name| set.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
        };
        assert!(of(&[("LANG", "de_DE.UTF-8")]) && of(&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8"), ("LANG", "C")]));
        assert!(!of(&[]) && !of(&[("LC_ALL", "C"), ("LANG", "de_DE.UTF-8")]));
    }
}
