//! Bare files that are not there yet: made where somebody says so, for a path may be mistyped.

use std::path::Path;

use clap::ArgMatches;
use mindful_core::contract::file_read::files_in_url;
use mindful_core::dataset::Extent;
use mindful_core::plan::DEFAULT_SCALE;
use mindful_core::plan::settings::{Origin, Settings};
use mindful_core::{Error, Result, plan::units};
use mindful_report::escape;

use crate::{question, registry};

/// The `settings`, after the question whether files that their target names and that are not there shall be made, where
/// no --scale says how large: a yes gives them the default one. Where nobody can be asked, the engine refuses.
pub fn asked(mut settings: Settings, matches: &ArgMatches) -> Result<Settings> {
    let on_files = |url: &&str| registry::find(url).is_ok_and(|engine| engine.file_reads().is_some());
    let Some(paths) = settings.get("target").filter(on_files).map(files_in_url) else { return Ok(settings) };
    // Of several targets each is one that is there, or as large as --scale says.
    if paths.contains('\n') {
        return Ok(settings);
    }
    let missing = paths.split(',').all(|path| !path.is_empty() && Path::new(path).symlink_metadata().is_err());
    if !missing || settings.given_text("scale").is_some() {
        return Ok(settings);
    }
    let asked = !matches.get_flag("yes") && question::somebody_is_there();
    if asked && !question::ask(&format!("{} does not exist: make and fill it?", escape(paths))) {
        return Err(Error::plan(format!("{paths} does not exist"), "name a file or device that does"));
    }
    if asked || matches.get_flag("yes") {
        let Extent::Bytes(bytes) = DEFAULT_SCALE else { return Ok(settings) };
        settings.set("scale", units::format_bytes(bytes).replace(' ', ""), Origin::Flag("--yes".to_owned()));
    }
    Ok(settings)
}
