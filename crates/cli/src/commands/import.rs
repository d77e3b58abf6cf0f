//! `mindful import`: an old configuration as a plan file, or a run folder from elsewhere.

use std::fmt::Write as _;
use std::path::Path;

use clap::ArgMatches;
use mindful_core::{Error, Result};
use mindful_record::file as record_file;
use mindful_report::escape;

use crate::commands::file;
use crate::exit::Exit;
use crate::plan_file::MOST_BYTES;
use crate::{context, store};

/// Reads the file as data, writes the plan file, tells what was left behind; a folder is copied into the store.
pub fn import(matches: &ArgMatches) -> Result<Exit> {
    let source = Path::new(matches.get_one::<String>("file").map_or("", String::as_str));
    if source.is_dir() {
        let id = store::open(matches)?.import(source)?;
        context::print(&format!("run {id} is taken into the store; `mindful show {id}` shows it\n"))?;
        return Ok(Exit::Ok);
    }
    let output = matches.get_one::<String>("output").map_or("mindful.toml", String::as_str);
    let name = source.file_name().map_or_else(|| source.display().to_string(), |n| n.to_string_lossy().into_owned());
    let text = record_file::open(source).and_then(|file| record_file::text(file, MOST_BYTES)).map_err(|error| {
        Error::plan(
            format!("{} cannot be read: {error}", source.display()),
            "give the path of a slob.conf, a pgio.conf or a run folder",
        )
    })?;
    let imported = mindful_import::import(&name, &text)?;
    if output == "-" {
        context::print(&imported.toml)?;
        return Ok(Exit::Ok);
    }
    file::write(Path::new(output), &imported.toml, matches.get_flag("yes"))?;
    let mut told = format!("{output} is written from {}; `mindful plan` shows it\n", escape(&name));
    for what in &imported.left_behind {
        // Writing to a string cannot fail.
        let _ = writeln!(told, "not carried over: {}", escape(what));
    }
    context::print(&told)?;
    Ok(Exit::Ok)
}
