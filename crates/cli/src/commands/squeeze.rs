//! `mindful squeeze`: occupies memory while a command runs, so that the page cache cannot hold the data it reads.
//!
//! The memory belongs to this process, so the kernel frees it after any end of the process. The command runs in a
//! watched group, which ends with this process.

use std::io::IsTerminal;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Stdio};
use std::time::Duration;

use clap::builder::ValueParser;
use clap::{Arg, ArgMatches};
use mindful_core::contract::stop_flag::StopFlag;
use mindful_core::plan::units::{format_bytes, parse_bytes};
use mindful_core::{Error, Result};
use mindful_host::Kernel;
use mindful_host::WatchedGroup;
use mindful_host::memory::Meminfo;
use rustix::process::Signal;

use crate::args::flags::option;
use crate::exit::{self, Exit};
use crate::signals;
use crate::verb::{Action, Verb};

pub(super) const VERB: Verb = Verb {
    name: "squeeze",
    about: "Occupy memory while a command runs, so that the page cache stays small",
    details: "The command inherits stdin, stdout and stderr; squeeze ends with its exit code.",
    example: "mindful squeeze --leave 2GiB -- mindful run",
    page: "docs/plans.md",
    plan: None,
    arguments: || {
        let command = Arg::new("command").value_name("COMMAND").num_args(1..).last(true).required(true);
        vec![
            option("leave", "leave", "SIZE").required(true).help("Memory to leave available, at least 256MiB"),
            command.value_parser(ValueParser::os_string()).help("Command to run, after --"),
        ]
    },
    action: Action::Run(squeeze),
};

/// With less memory the host would swap, or kill processes.
const FLOOR: u64 = 256 << 20;
/// Memory is taken in pieces; after each, the available memory is read again.
const PIECE: u64 = 64 << 20;
/// Tolerance of the available memory.
const GRAIN: u64 = 4 << 20;
const POLL: Duration = Duration::from_millis(20);

fn squeeze(matches: &ArgMatches) -> Result<Exit> {
    let leave = matches.get_one::<String>("leave").map_or("", String::as_str);
    let leave = parse_bytes(leave).map_err(|error| error.at("--leave"))?;
    let stop = signals::stop_on_signal()?;
    let held = hold(leave, &stop)?;
    let size: usize = held.iter().map(Vec::len).sum();
    let locked = rustix::mm::mlockall(rustix::mm::MlockAllFlags::CURRENT).is_ok();
    if !matches.get_flag("quiet") {
        exit::tell(&format!(
            "holding {} of memory{}; {} are available",
            format_bytes(size as u64),
            if locked { "" } else { " (not locked: it may be swapped out; raise ulimit -l)" },
            format_bytes(leave)
        ));
    }
    let code = run(matches, &stop)?;
    drop(held);
    Ok(Exit::Passed(code))
}

fn hold(leave: u64, stop: &StopFlag) -> Result<Vec<Vec<u8>>> {
    let available = available_bytes()?;
    if leave < FLOOR {
        return Err(Error::plan(
            format!("--leave {}: the host would swap or kill processes", format_bytes(leave)),
            format!("leave at least {}", format_bytes(FLOOR)),
        ));
    }
    if leave > available {
        return Err(Error::plan(
            format!("--leave {}: only {} are available", format_bytes(leave), format_bytes(available)),
            "pass a smaller --leave",
        ));
    }
    let mut held = Vec::new();
    loop {
        let beyond = available_bytes()?.saturating_sub(leave);
        if stop.is_requested() {
            return Err(Error::interrupted("interrupted; the command was not started"));
        }
        if beyond <= GRAIN {
            return Ok(held);
        }
        // Written, so that every page exists.
        held.push(vec![0xA5; beyond.min(PIECE) as usize]);
    }
}

/// Free memory and page cache, bytes.
fn available_bytes() -> Result<u64> {
    let available = Meminfo::read(&Kernel::default()).available_bytes;
    available.ok_or_else(|| Error::plan("cannot read the available memory of this host", "squeeze needs Linux"))
}

/// Runs the command to its end, and passes signals on to its group.
fn run(matches: &ArgMatches, stop: &StopFlag) -> Result<u8> {
    let mut words = matches.get_many::<std::ffi::OsString>("command").into_iter().flatten();
    let program = words.next().ok_or_else(|| Error::plan("no command", "add -- COMMAND"))?;
    let refused = |error| Error::run(format!("cannot start /bin/sh: {error}"), "raise ulimit -u");
    let mut group = WatchedGroup::start().map_err(refused)?;
    // A process in a background group cannot read from the terminal.
    let input = if std::io::stdin().is_terminal() { Stdio::null() } else { Stdio::inherit() };
    let (mut child, command) = group
        .spawn(Command::new(program).args(words).stdin(input))
        .map_err(|error| Error::plan(format!("cannot start {}: {error}", program.display()), "check its name"))?;
    // If memory runs out, the kernel is to kill this process, and so the command.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    let failed = |error| Error::run(format!("cannot wait for the command: {error}"), "");
    let mut passed_on = false;
    let status = loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            break status;
        }
        if stop.is_requested() && !passed_on {
            command.signal(Signal::INT);
            passed_on = true;
        }
        std::thread::sleep(POLL);
    };
    group.dismiss();
    let code = status.code().or_else(|| status.signal().map(|signal| 128 + signal)).unwrap_or(1);
    Ok(u8::try_from(code).unwrap_or(1))
}
