//! The table of engines, the only place that names them.

use std::path::Path;
use std::sync::Arc;

use mindful_core::contract::event::Events;
use mindful_core::plan::secret::MASK;
use mindful_core::plan::settings::{self, Key, Settings};
use mindful_core::ranks::rendezvous::{Rendezvous, unsupported_engine_error};
use mindful_core::{Engine, Error, Result};
use mindful_host::SharedFolder;

pub(crate) static ENGINES: &[&dyn Engine] = &[
    #[cfg(feature = "postgres")]
    &mindful_postgres::ENGINE,
    #[cfg(feature = "mysql")]
    &mindful_mysql::ENGINE,
    #[cfg(feature = "sqlite")]
    &mindful_sqlite::ENGINE,
    #[cfg(feature = "raw")]
    &mindful_raw::ENGINE,
    #[cfg(feature = "oracle")]
    &mindful_oracle::ENGINE,
    &mindful_null::ENGINE,
];

pub(crate) fn find(url: &str) -> Result<&'static dyn Engine> {
    let scheme = url.split(':').next().unwrap_or(url);
    ENGINES.iter().find(|engine| engine.facts().schemes.contains(&scheme)).copied().ok_or_else(|| unknown(scheme))
}

/// The rendezvous at `url` for a run of `engine` with `settings`: a folder that all hosts share, or a database.
pub(crate) fn meet(
    url: &str,
    engine: &'static dyn Engine,
    settings: &Settings,
    events: &Arc<dyn Events>,
) -> Result<Box<dyn Rendezvous>> {
    if let Some(path) = url.strip_prefix("dir:") {
        return Ok(Box::new(SharedFolder::open(Path::new(path))?));
    }
    let meets = find(url)?;
    let options = if meets.name() == engine.name() {
        meets.parse_options(url, settings)?
    } else {
        meets.parse_options(url, &Settings::defaults(meets.options()))?
    };
    options.open_rendezvous(events)?.ok_or_else(|| unsupported_engine_error(meets.name()))
}

pub(crate) fn of(settings: &Settings) -> Result<&'static dyn Engine> {
    find(&settings.require("target", |url| Ok(url.to_owned()))?)
}

#[cfg(feature = "raw")]
pub(crate) fn of_files() -> Result<&'static dyn Engine> {
    let found = ENGINES.iter().find(|engine| engine.file_reads().is_some()).copied();
    found.ok_or_else(|| Error::plan("this build has no engine for files", "build it with --features raw"))
}

fn unknown(scheme: &str) -> Error {
    if scheme.starts_with(['/', '.']) && !scheme.starts_with("//") {
        let next = "pass raw:PATH for bare files, or sqlite:PATH for a database file";
        return Error::plan("the target is a path, and no engine is named", next);
    }
    let schemes = || ENGINES.iter().flat_map(|engine| engine.facts().schemes.iter().copied());
    let next = match settings::nearest(scheme, schemes()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("start the target with {}", schemes().collect::<Vec<_>>().join(", ")),
    };
    // A character that no scheme has may begin a password: `user/password@database`.
    let odd = scheme.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c));
    let shown = odd.map_or_else(|| scheme.to_owned(), |odd| format!("{}{MASK}", &scheme[..odd]));
    Error::plan(format!("no engine has the scheme `{shown}`"), next)
}

/// The names of the engines that have an option called `name`: `postgres, sqlite`.
pub(crate) fn owners(name: &str) -> String {
    let has = |engine: &&&dyn Engine| engine.options().iter().any(|key| key.name == name);
    ENGINES.iter().filter(has).map(|engine| engine.name()).collect::<Vec<_>>().join(", ")
}

pub(crate) fn options() -> Vec<&'static Key> {
    let mut keys: Vec<&'static Key> = Vec::new();
    for key in ENGINES.iter().flat_map(|engine| engine.options()) {
        if !keys.iter().any(|known| known.name == key.name) {
            keys.push(key);
        }
    }
    keys
}
