//! `mindful`: measures a platform through the database that will run on it.

#[cfg(feature = "raw")]
mod args;
mod commands;
mod context;
mod exit;
mod io_keys;
mod layers;
mod noise;
mod open_files;
mod plan_file;
mod registry;
mod service_variables;
mod signals;
mod store;

use std::process::ExitCode;

fn main() -> ExitCode {
    open_files::take_all();
    match args::parse(std::env::args_os()) {
        Ok(matches) => {
            let plan = matches.subcommand().and_then(|(_, verb)| plan_file::PlanFile::of(verb));
            exit::conclude(commands::dispatch(&matches), plan.as_ref())
        }
        Err(error) => exit::conclude(Err(error), None),
    }
}
