//! Servers that outlived their mindful.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use mindful_core::contract::event::{Events, emit_note};
use mindful_core::{Error, Result};
use mindful_host::{Kernel, process};
use rustix::process::{Pid, Signal, kill_process};

use crate::files::{own_file, read_text};
use crate::program::ServerKind;

/// The file of an instance that is locked while a process of the server lives.
pub(crate) const SERVER_LOCK: &str = "server.lock";

/// Time limits: for an orderly shutdown, then for a fast shutdown, then for the end after SIGKILL.
const PATIENCE: [Duration; 3] = [Duration::from_secs(10), Duration::from_secs(5), Duration::from_secs(10)];

/// Time for a guard to end after its server.
const LETTING_GO: Duration = Duration::from_millis(500);

/// Stops the guard and the server that still work in this folder. The file they inherit is locked while any of their
/// processes lives, even one that has just been started.
pub(crate) fn stop(folder: &Path, data: &Path, kind: &ServerKind, events: &dyn Events) -> Result<()> {
    let locked = || own_file(&folder.join(SERVER_LOCK)).is_ok_and(|file| file.try_lock().is_err());
    let began = Instant::now();
    while locked() && processes(data, kind).is_empty() && began.elapsed() < LETTING_GO {
        std::thread::sleep(Duration::from_millis(3));
    }
    if !locked() {
        return Ok(());
    }
    emit_note(events, format!("a server of an earlier run still uses {}: stopping it", data.display()));
    let [in_order, at_once] = kind.stop;
    for (signal, patience) in [in_order, at_once, Signal::KILL].into_iter().zip(PATIENCE) {
        let began = Instant::now();
        while began.elapsed() < patience {
            if !locked() {
                return Ok(());
            }
            for pid in targets(folder, data, kind) {
                // It may have ended just now, which is as well.
                let _ = kill_process(pid, signal);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    Err(Error::target(
        format!("the server in {} cannot be stopped (its processes: {:?})", data.display(), processes(data, kind)),
        "end it by hand, or pass another --data-dir",
    ))
}

/// Only the first process if it is alive, because it stops the others; else the orphans.
fn targets(folder: &Path, data: &Path, kind: &ServerKind) -> Vec<Pid> {
    let found = processes(data, kind);
    let all = match first_process(folder) {
        Some(pid) if found.contains(&pid) => vec![pid],
        _ => found,
    };
    all.into_iter().filter_map(|pid| Pid::from_raw(pid as i32)).collect()
}

/// The first process of the server that runs, or last ran, in this instance, as its guard recorded it.
pub(crate) fn first_process(folder: &Path) -> Option<u32> {
    read_text(&folder.join(SERVER_LOCK), 64).ok()?.lines().next()?.trim().parse().ok()
}

/// Exit status of that process, if its guard recorded it.
pub(crate) fn exit_status(folder: &Path) -> Option<i32> {
    read_text(&folder.join(SERVER_LOCK), 64).ok()?.lines().nth(1)?.strip_prefix("ended ")?.trim().parse().ok()
}

/// All server processes of a data folder: every one of them works in it, under a name of theirs.
pub(crate) fn processes(data: &Path, kind: &ServerKind) -> Vec<u32> {
    let kernel = Kernel::default();
    let is_server =
        |pid: &u32| process::name(&kernel, *pid).is_some_and(|name| kind.processes.contains(&name.as_str()));
    process::all(&kernel).into_iter().filter(|pid| works_in(*pid, data) && is_server(pid)).collect()
}

fn works_in(pid: u32, folder: &Path) -> bool {
    fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == folder)
}

/// Waits for a limited time until no process works in `folder`.
pub(crate) fn await_end(folder: &Path) {
    let began = Instant::now();
    while process::all(&Kernel::default()).into_iter().any(|pid| works_in(pid, folder))
        && began.elapsed() < Duration::from_secs(20)
    {
        std::thread::sleep(Duration::from_millis(20));
    }
}
