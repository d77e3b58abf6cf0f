//! `mindful man`: a manual page for the program and one for each verb, for packages.

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use clap::ArgMatches;
use clap_mangen::Man;
use mindful_core::{Error, Result};
use mindful_record::file;

use crate::exit::Exit;
use crate::{args, context};

/// Writes `mindful.1` and `mindful-VERB.1` into the folder that was named, which is made.
pub fn man(matches: &ArgMatches) -> Result<Exit> {
    let folder = Path::new(matches.get_one::<String>("folder").map_or(".", String::as_str));
    let failed = |error: &dyn std::fmt::Display| {
        Error::plan(format!("cannot write manual pages into {}: {error}", folder.display()), "name another folder")
    };
    fs::create_dir_all(folder).map_err(|error| failed(&error))?;
    let mut program = args::of_default_target().disable_help_subcommand(true);
    program.build();
    let verbs = program.get_subcommands().filter(|verb| !verb.is_hide_set()).cloned();
    for page in verbs.chain([program.clone()]).map(Man::new) {
        write(&folder.join(page.get_filename()), &page)?;
    }
    context::print(&format!("{}\n", folder.join("mindful.1").display()))?;
    Ok(Exit::Ok)
}

/// Writes one page for everybody to read, in place of an older one.
fn write(path: &Path, page: &Man) -> Result<()> {
    let mut text = Vec::new();
    let written = page.render(&mut text).and_then(|()| {
        file::put(path, path.symlink_metadata().is_ok(), |mut file| {
            file.write_all(&text)?;
            file.set_permissions(fs::Permissions::from_mode(0o644))
        })
    });
    written.map_err(|error| {
        Error::plan(format!("{} cannot be written: {error}", path.display()), "remove it, or name another folder")
    })
}
