//! Missing files of `raw:` targets. They are created only on request, because a path may be mistyped.

use std::path::Path;

use clap::ArgMatches;
use mindful_core::contract::file_read::files_in_url;
use mindful_core::dataset::Extent;
use mindful_core::plan::DEFAULT_SCALE;
use mindful_core::plan::settings::{Origin, Settings};
use mindful_core::{Error, Result, plan::units};
use mindful_report::escape;

use crate::{question, registry};

/// Asks whether to create missing files if no --scale sets their size; a yes sets the default size. Without a terminal
/// the engine refuses them.
pub(crate) fn asked(mut settings: Settings, matches: &ArgMatches) -> Result<Settings> {
    let on_files = |url: &&str| registry::find(url).is_ok_and(|engine| engine.file_reads().is_some());
    let Some(paths) = settings.get("target").filter(on_files).map(files_in_url) else { return Ok(settings) };
    // Several targets need existing files, or --scale.
    if paths.contains('\n') {
        return Ok(settings);
    }
    let missing = paths.split(',').all(|path| !path.is_empty() && Path::new(path).symlink_metadata().is_err());
    if !missing || settings.given_text("scale").is_some() {
        return Ok(settings);
    }
    let asked = !matches.get_flag("yes") && question::can_ask();
    if asked && !question::ask(&format!("{} does not exist; create and fill it?", escape(paths))) {
        return Err(Error::plan(format!("{paths} does not exist"), "name an existing file or device"));
    }
    if asked || matches.get_flag("yes") {
        let Extent::Bytes(bytes) = DEFAULT_SCALE else { return Ok(settings) };
        settings.set("scale", units::format_bytes(bytes).replace(' ', ""), Origin::Flag("--yes".to_owned()));
    }
    Ok(settings)
}
