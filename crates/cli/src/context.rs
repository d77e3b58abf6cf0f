//! Common parts of verbs: the context of a run from the command line, and output on stdout and stderr.

use std::collections::BTreeSet;
use std::io::{IsTerminal, Write};
use std::sync::Arc;

use clap::ArgMatches;
use mindful_core::contract::Resolved;
use mindful_core::contract::clock::HostClock;
use mindful_core::contract::event::{Events, Silent};
use mindful_core::plan::settings::Settings;
use mindful_core::ranks::Rank;
use mindful_core::record::run::Run;
use mindful_core::{Engine, Error, Result};
use mindful_report::Style;
pub(crate) use mindful_report::found_plan;
use mindful_report::live::Live;
use mindful_report::live::screen::Screen;
use mindful_runner::Context;
use rustix::fs::FileType;
use rustix::io::Errno;
use serde_json::Value;

use crate::exit::Exit;
use crate::{layers, registry, signals, store, targets, version};

/// Layers the settings, resolves the plan and finds its engine. Opens no target.
pub(crate) fn of(matches: &ArgMatches) -> Result<Context> {
    with(layers::settings(matches)?, matches)
}

/// The same, from layered settings, which are parsed here, once.
pub(crate) fn with(settings: Settings, matches: &ArgMatches) -> Result<Context> {
    targets::refuse_several(&settings)?;
    let engine = registry::of(&settings)?;
    of_resolved(Resolved::parse(engine, settings)?, engine, matches)
}

pub(crate) fn of_resolved(resolved: Resolved, engine: &'static dyn Engine, matches: &ArgMatches) -> Result<Context> {
    let live = live(matches)?;
    let store = store::open(matches)?;
    let context = Context::new(resolved, engine, store, live, signals::stop_on_signal()?, Arc::new(HostClock))?;
    Ok(Context { build: Some(version::line()), ..context })
}

/// An environment variable. Bytes that are not UTF-8 become replacement characters, which its parser refuses.
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
}

/// The same, for a verb that runs in one process.
///
/// # Errors
/// A launcher started several processes.
pub(crate) fn alone(settings: Settings, matches: &ArgMatches) -> Result<Context> {
    refuse_ranks(with(settings, matches)?)
}

/// `context`, unless a launcher started several processes.
pub(crate) fn refuse_ranks(context: Context) -> Result<Context> {
    match Rank::detect(&context.settings, &variable)? {
        None => Ok(context),
        Some(rank) => Err(Error::plan(
            format!(
                "rank {} of {} ({}): only `mindful run` can be shared by ranks",
                rank.number, rank.count, rank.source
            ),
            "start one process without --rank and --ranks, or pass --ranks 1",
        )),
    }
}

/// The progress display: nothing, lines, or the whole terminal.
fn live(matches: &ArgMatches) -> Result<Arc<dyn Events>> {
    let terminal = std::io::stderr().is_terminal();
    if is_quiet(matches) {
        return Ok(Arc::new(Silent));
    }
    if !is_full_screen(matches, "live") {
        return Ok(Arc::new(Live::new(terminal)));
    }
    if !has_screen(matches, "live") {
        tell("--live needs a terminal; printing a line every ten seconds instead");
        return Ok(Arc::new(Live::new(terminal)));
    }
    Ok(Arc::new(Screen::open(None, wants_colour(), signals::interrupt)?))
}

/// Whether the argument `id` requests the whole terminal, and there is one.
pub(crate) fn has_screen(matches: &ArgMatches, id: &str) -> bool {
    let terminal = std::io::stderr().is_terminal() && std::io::stdin().is_terminal();
    is_full_screen(matches, id) && !is_quiet(matches) && terminal
}

fn is_full_screen(matches: &ArgMatches, id: &str) -> bool {
    matches.try_get_one::<bool>(id).ok().flatten().is_some_and(|live| *live)
}

pub(crate) fn wants_colour() -> bool {
    std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
}

pub(crate) fn wants_json(matches: &ArgMatches) -> bool {
    matches.get_one::<String>("format").is_some_and(|format| format == "json")
}

fn is_quiet(matches: &ArgMatches) -> bool {
    matches.get_flag("quiet")
}

/// Prints a line on stderr.
pub(crate) fn tell(line: &str) {
    // Nothing can be done about a closed stderr.
    let _ = writeln!(std::io::stderr(), "mindful: {}", mindful_report::escape(line));
}

/// Width without a terminal and without COLUMNS: every table of a report fits.
const WIDE: usize = 120;

pub(crate) fn style() -> Style {
    let terminal = std::io::stdout().is_terminal();
    let colour = terminal && wants_colour();
    Style { width: columns().unwrap_or(WIDE), colour, ascii: !is_utf8(variable) }
}

/// Whether the locale is UTF-8. The first of the three variables that is set decides.
fn is_utf8(variable: impl Fn(&str) -> Option<String>) -> bool {
    let set = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().filter_map(variable).find(|value| !value.is_empty());
    set.is_some_and(|locale| locale.to_lowercase().replace('-', "").contains("utf8"))
}

/// Columns of the terminal, or `COLUMNS`; `None` without either.
pub(crate) fn columns() -> Option<usize> {
    let terminal = std::io::stdout().is_terminal();
    let size = if terminal { rustix::termios::tcgetwinsize(std::io::stdout()).ok() } else { None };
    let said = || std::env::var("COLUMNS").ok()?.parse().ok();
    size.map(|size| usize::from(size.ws_col)).filter(|columns| *columns > 0).or_else(said).filter(|n| *n > 0)
}

/// The plan files of stored runs that were found automatically, each once.
pub(crate) fn found_plans<'a>(runs: impl Iterator<Item = &'a Run>) -> String {
    runs.map(|run| found_plan(&run.head.settings)).collect::<BTreeSet<_>>().into_iter().collect()
}

/// JSON output, with a plan file that was found automatically as `plan_file`.
pub(crate) fn json(mut object: Value, settings: &Settings) -> String {
    if let Some(path) = settings.found_in() {
        object["plan_file"] = path.into();
    }
    format!("{object:#}\n")
}

/// Prints on stdout, after which a verb has succeeded.
pub(crate) fn print(text: &str) -> Result<Exit> {
    offer(text).map(|_| Exit::Ok)
}

/// Prints on stdout; returns whether the reader is still there.
pub(crate) fn offer(text: &str) -> Result<bool> {
    offer_bytes(mindful_report::escape_json(text).as_bytes())
}

/// The same for bytes that are not text.
pub(crate) fn offer_bytes(bytes: &[u8]) -> Result<bool> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(bytes).and_then(|()| stdout.flush()) {
        Err(error) if is_reader_gone(&error) => Ok(false),
        Err(error) => {
            Err(Error::run(format!("cannot write to stdout: {error}"), "check the file or pipe that it goes to"))
        }
        Ok(()) => Ok(true),
    }
}

/// Whether the pipe was closed, or the terminal has hung up.
fn is_reader_gone(error: &std::io::Error) -> bool {
    let of_terminal = || {
        let stdout = rustix::fs::fstat(std::io::stdout());
        stdout.is_ok_and(|stdout| FileType::from_raw_mode(stdout.st_mode) == FileType::CharacterDevice)
    };
    error.kind() == std::io::ErrorKind::BrokenPipe
        || error.raw_os_error() == Some(Errno::IO.raw_os_error()) && of_terminal()
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
