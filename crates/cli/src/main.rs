//! `mindful`: measures a platform through the database that will run on it.

#[cfg(feature = "raw")]
mod affinity;
mod args;
mod commands;
mod context;
mod exit;
mod io_keys;
mod layers;
mod noise;
mod open_files;
mod registry;
mod signals;
mod store;

use std::process::ExitCode;

fn main() -> ExitCode {
    open_files::take_all();
    let outcome = args::parse(std::env::args_os()).and_then(|matches| commands::dispatch(&matches));
    exit::conclude(outcome)
}
