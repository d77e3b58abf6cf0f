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
mod question;
mod registry;
mod service_variables;
mod signals;
mod store;
mod version;

use std::io::Write as _;
use std::process::ExitCode;

/// What a newcomer types next; printed where nothing was asked.
const FIRST_MINUTE: &str = "\
mindful run                                     measure this machine: a private PostgreSQL, 1 GiB, 30 s
mindful run --target postgres://host/database   measure your own server
mindful doctor                                  what would spoil a figure here, and the line that changes it
mindful sweep --sessions 1..64                  latency against IOPS
mindful --help                                  all verbs; --plan examples/FILE.toml runs an example
";

fn main() -> ExitCode {
    open_files::take_all();
    if std::env::args_os().len() < 2 {
        let _ = std::io::stderr().write_all(FIRST_MINUTE.as_bytes());
        return exit::conclude(Ok(exit::Exit::Usage), None);
    }
    match args::parse(std::env::args_os()) {
        Ok(matches) => {
            let plan = matches.subcommand().and_then(|(_, verb)| plan_file::PlanFile::of(verb));
            exit::conclude(commands::dispatch(&matches), plan.as_ref())
        }
        Err(error) => exit::conclude(Err(error), None),
    }
}
