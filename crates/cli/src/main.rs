//! `mindful`: measures a platform through the database that will run on it.

mod args;
mod commands;
mod context;
mod exit;
mod intake;
mod io_keys;
mod layers;
mod new_files;
mod noise;
mod outcome;
mod output_file;
mod plan_file;
mod prices;
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

use rustix::fs::Mode;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit, umask};

/// Printed without arguments: the first commands.
const FIRST_MINUTE: &str = "\
mindful run                                     measure this machine: a private PostgreSQL, 1 GiB, 30 s
mindful run --target postgres://host/database   measure your own server
mindful doctor                                  show what would spoil a result here, and how to fix it
mindful sweep --sessions 1..64                  measure latency at rising IOPS
mindful --help                                  list all verbs; --plan examples/FILE.toml runs an example
";

fn main() -> ExitCode {
    raise_file_limit();
    keep_own_rights();
    signals::replace_inherited();
    if std::env::args_os().len() < 2 {
        let _ = std::io::stderr().write_all(FIRST_MINUTE.as_bytes());
        return exit::conclude(Ok(exit::Exit::Usage), None);
    }
    match args::parse(commands::GROUPS, std::env::args_os()) {
        Ok(matches) => {
            let plan = matches.subcommand().and_then(|(_, verb)| plan_file::PlanFile::of(verb));
            exit::conclude(commands::dispatch(&matches), plan.as_ref())
        }
        Err(error) => exit::conclude(Err(error), None),
    }
}

/// Keeps a mask of file modes from taking rights of the user: what mindful makes is opened again.
fn keep_own_rights() {
    let mask = umask(Mode::empty());
    umask(mask - Mode::RWXU);
}

/// Raises the limit of open files to the maximum: each session has at least one, and the usual limit is 1,024.
fn raise_file_limit() {
    let maximum = getrlimit(Resource::Nofile).maximum;
    // If that fails, the session that exceeds the limit reports it.
    let _ = setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum });
}
