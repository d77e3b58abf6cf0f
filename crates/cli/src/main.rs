//! `mindful`: measures a platform through the database that will run on it.

mod args;
mod commands;
mod context;
mod exit;
mod io_keys;
mod layers;
mod new_files;
mod noise;
mod plan_file;
mod question;
mod rank_context;
mod registry;
mod runs;
mod service_variables;
mod signals;
mod store;
mod stored_settings;
mod targets;
mod verb;
mod version;

use std::io::Write as _;
use std::process::ExitCode;

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// What a newcomer types next; printed where nothing was asked.
const FIRST_MINUTE: &str = "\
mindful run                                     measure this machine: a private PostgreSQL, 1 GiB, 30 s
mindful run --target postgres://host/database   measure your own server
mindful doctor                                  what would spoil a figure here, and the line that changes it
mindful sweep --sessions 1..64                  latency against IOPS
mindful --help                                  all verbs; --plan examples/FILE.toml runs an example
";

fn main() -> ExitCode {
    take_open_files();
    if std::env::args_os().len() < 2 {
        let _ = std::io::stderr().write_all(FIRST_MINUTE.as_bytes());
        return exit::conclude(Ok(exit::Exit::Usage), None);
    }
    match args::parse(commands::VERBS, std::env::args_os()) {
        Ok(matches) => {
            let plan = matches.subcommand().and_then(|(_, verb)| plan_file::PlanFile::of(verb));
            exit::conclude(commands::dispatch(&matches), plan.as_ref())
        }
        Err(error) => exit::conclude(Err(error), None),
    }
}

/// Takes as many open files as the user may have, for each session has one or more: the usual limit of 1,024 is meant for programs of another kind.
fn take_open_files() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    // Where it is refused the old limit stays, and the session it concerns tells so.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}
