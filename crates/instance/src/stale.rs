//! Servers that outlived their mindful.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use mindful_core::contract::event::{Events, emit_note};
use mindful_core::{Error, Result};
use mindful_host::system_path::find_program;
use mindful_host::{Kernel, process};
use rustix::process::{Pid, Signal, kill_process};

use crate::files::own_file;
use crate::lock_file;
use crate::program::ServerKind;

/// Time limits: for an orderly shutdown, then for a fast shutdown, then for the end after SIGKILL.
const PATIENCE: [Duration; 3] = [Duration::from_secs(10), Duration::from_secs(5), Duration::from_secs(10)];

/// Time for a guard to end after its server.
const LETTING_GO: Duration = Duration::from_millis(500);

/// Stops the guard and the server that still work in this folder. The file they inherit is locked while any of their
/// processes lives, even one that has just been started.
pub(crate) fn stop(data: &Path, lock: &Path, kind: &ServerKind, events: &dyn Events) -> Result<()> {
    let locked = || own_file(lock).is_ok_and(|file| file.try_lock().is_err());
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
            for pid in targets(data, lock, kind) {
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
fn targets(data: &Path, lock: &Path, kind: &ServerKind) -> Vec<Pid> {
    let first = lock_file::pid(lock);
    let found = if sees_processes() {
        processes(data, kind)
    } else {
        first.filter(|pid| was_started_for(*pid, data)).into_iter().collect()
    };
    let all = match first {
        Some(pid) if found.contains(&pid) => vec![pid],
        _ => found,
    };
    all.into_iter().filter_map(|pid| Pid::from_raw(pid as i32)).collect()
}

/// Whether this system has a `/proc` in which processes are found by their folder.
pub(crate) fn sees_processes() -> bool {
    Path::new("/proc/self/cwd").exists()
}

/// All server processes of a data folder: every one of them works in it, under a name of theirs.
pub(crate) fn processes(data: &Path, kind: &ServerKind) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let ours = |pid: &u32| {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        fs::read_link(folder.join("cwd")).is_ok_and(|cwd| cwd == data)
            && fs::read_to_string(folder.join("comm")).is_ok_and(|name| kind.processes.contains(&name.trim()))
    };
    entries.flatten().filter_map(number).filter(ours).collect()
}

/// Waits for a limited time until no process works in `folder`.
pub(crate) fn await_end(folder: &Path) {
    let works_there = |pid: u32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == folder);
    let began = Instant::now();
    while process::all(&Kernel::default()).into_iter().any(works_there) && began.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Where there is no `/proc`: whether a process was started with this data folder.
fn was_started_for(pid: u32, data: &Path) -> bool {
    let Some(ps) = find_program("ps") else { return false };
    let output = Command::new(ps).env_clear().args(["-o", "args=", "-p", &pid.to_string()]).output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(&data.display().to_string()))
}
