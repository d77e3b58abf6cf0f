//! The file of `--junit`.

use std::path::Path;

use clap::ArgMatches;
use mindful_core::{Error, Result};

use crate::output_file;

/// Refuses, before anything is run, an existing file without --yes.
pub(super) fn refuse_to_replace(matches: &ArgMatches) -> Result<()> {
    let there = matches.get_one::<String>("junit").filter(|path| Path::new(path).symlink_metadata().is_ok());
    match there.filter(|_| !matches.get_flag("yes")) {
        Some(path) => Err(Error::plan(format!("{path} exists"), "choose another --junit, or pass --yes to replace it")),
        None => Ok(()),
    }
}

/// Writes the result of `suite` to the file of `--junit`, if it is set.
pub(super) fn write(matches: &ArgMatches, suite: impl FnOnce() -> String) -> Result<()> {
    let Some(path) = matches.get_one::<String>("junit") else { return Ok(()) };
    output_file::write(Path::new(path), suite().as_bytes(), true)
}
