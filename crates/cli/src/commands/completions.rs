//! `mindful completions`: what a shell completes, as a script of that shell.

use clap::ArgMatches;
use clap_complete::Shell;
use mindful_core::Result;

use crate::exit::Exit;
use crate::{args, context};

/// Prints the script of the shell that was named.
pub fn completions(matches: &ArgMatches) -> Result<Exit> {
    let mut script = Vec::new();
    if let Some(shell) = matches.get_one::<Shell>("shell") {
        clap_complete::generate(*shell, &mut args::of_default_target(), "mindful", &mut script);
    }
    context::print(&String::from_utf8_lossy(&script))?;
    Ok(Exit::Ok)
}
