//! `mindful import`: an old configuration as a plan file.

use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

use clap::ArgMatches;
use mindful_core::{Error, Result};
use mindful_report::escape;

use crate::context;
use crate::exit::Exit;

/// Reads the file as data, writes the plan file, tells what was left behind.
pub fn import(matches: &ArgMatches) -> Result<Exit> {
    let source = Path::new(matches.get_one::<String>("file").map_or("", String::as_str));
    let output = matches.get_one::<String>("output").map_or("mindful.toml", String::as_str);
    let name = source.file_name().map_or_else(|| source.display().to_string(), |n| n.to_string_lossy().into_owned());
    let text = std::fs::read_to_string(source).map_err(|error| {
        Error::plan(
            format!("{} cannot be read: {error}", source.display()),
            "give the path of a slob.conf or pgio.conf",
        )
    })?;
    let imported = mindful_import::import(&name, &text)?;
    if output == "-" {
        context::print(&imported.toml)?;
        return Ok(Exit::Ok);
    }
    write(Path::new(output), &imported.toml, matches.get_flag("yes"))?;
    let mut told = format!("{output} is written from {}; `mindful plan` shows it\n", escape(&name));
    for what in &imported.left_behind {
        // Writing to a string cannot fail.
        let _ = writeln!(told, "not carried over: {}", escape(what));
    }
    context::print(&told)?;
    Ok(Exit::Ok)
}

fn write(path: &Path, text: &str, replace: bool) -> Result<()> {
    let mut options = OpenOptions::new();
    options.write(true);
    if replace {
        options.create(true).truncate(true)
    } else {
        options.create_new(true)
    };
    options.open(path).and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        let next = if error.kind() == std::io::ErrorKind::AlreadyExists {
            "give --output FILE, or --yes to replace it"
        } else {
            "give --output FILE in a folder you may write to"
        };
        Error::plan(format!("{} cannot be written: {error}", path.display()), next)
    })
}
