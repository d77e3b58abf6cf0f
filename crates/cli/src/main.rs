//! `mindful`: measures a platform through the database that will run on it.

#[cfg(feature = "raw")]
mod affinity;
mod args;
mod cached;
mod commands;
mod context;
mod examine;
mod exit;
mod fits;
mod hooks;
mod io_keys;
mod job;
mod layers;
mod measure;
mod noise;
mod open_files;
mod recording;
mod registry;
mod repetition;
#[cfg(feature = "raw")]
mod series;
mod signals;
mod steadiness;
mod store;
mod sweep;

use std::process::ExitCode;

fn main() -> ExitCode {
    open_files::take_all();
    let outcome = args::parse(std::env::args_os()).and_then(|matches| commands::dispatch(&matches));
    exit::conclude(outcome)
}
