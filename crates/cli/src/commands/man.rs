//! `mindful man`: a manual page for the program and one for each verb, for packages.

use std::fs;
use std::path::Path;

use clap::ArgMatches;
use mindful_core::{Error, Result};

use crate::exit::Exit;
use crate::{args, context};

/// Writes `mindful.1` and `mindful-VERB.1` into the folder that was named, which is made.
pub fn man(matches: &ArgMatches) -> Result<Exit> {
    let folder = Path::new(matches.get_one::<String>("folder").map_or(".", String::as_str));
    let failed = |error: &dyn std::fmt::Display| {
        Error::plan(format!("cannot write manual pages into {}: {error}", folder.display()), "name another folder")
    };
    fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    clap_mangen::generate_to(args::of_default_target(), folder).map_err(|error| failed(&error))?;
    context::print(&format!("{}\n", folder.join("mindful.1").display()))?;
    Ok(Exit::Ok)
}
