//! Servers that outlived their mindful.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use mindful_core::event::{Events, note};
use mindful_core::{Error, Result};
use mindful_host::{Kernel, process};
use rustix::process::{Pid, Signal, kill_process};

use mindful_instance::account::Account;
use mindful_instance::files::{own_file, read_text};
use mindful_instance::shared_memory;

/// How long a fast shutdown may take before the server is told to give up, and then before it is killed.
const PATIENCE: [(Signal, Duration); 3] = [
    (Signal::INT, Duration::from_secs(10)),
    (Signal::QUIT, Duration::from_secs(5)),
    (Signal::KILL, Duration::from_secs(10)),
];

/// Stops the guard and the server that still work in this folder. As long as any of their processes lives, be it one
/// that has only just been started, the file they were given is locked.
pub fn stop(data: &Path, lock: &Path, events: &dyn Events) -> Result<()> {
    let locked = || own_file(lock).is_ok_and(|file| file.try_lock().is_err());
    if !locked() {
        return Ok(());
    }
    note(events, format!("a server of an earlier run still works in {}: stopping it", data.display()));
    for (signal, patience) in PATIENCE {
        let began = Instant::now();
        while began.elapsed() < patience {
            if !locked() {
                return Ok(());
            }
            for pid in targets(data, lock) {
                // It may have ended just now, which is as well.
                let _ = kill_process(pid, signal);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    Err(Error::target(
        format!("the server in {} cannot be stopped (its processes: {:?})", data.display(), processes(data)),
        "end it by hand, or give another --data-dir",
    ))
}

/// The postmaster alone if it lives, for it stops the others; else the orphans.
fn targets(data: &Path, lock: &Path) -> Vec<Pid> {
    let postmaster = read_text(lock, 64).ok().and_then(|text| text.trim().parse::<u32>().ok());
    let found = if Path::new("/proc/self/cwd").exists() {
        processes(data)
    } else {
        postmaster.filter(|pid| was_started_for(*pid, data)).into_iter().collect()
    };
    let all = match postmaster {
        Some(pid) if found.contains(&pid) => vec![pid],
        _ => found,
    };
    all.into_iter().filter_map(|pid| Pid::from_raw(pid as i32)).collect()
}

/// All server processes of a data directory: every one of them works in it, and their program is called postgres.
pub fn processes(data: &Path) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let ours = |pid: &u32| {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        fs::read_link(folder.join("cwd")).is_ok_and(|cwd| cwd == data)
            && fs::read_to_string(folder.join("comm")).is_ok_and(|name| name.trim() == "postgres")
    };
    entries.flatten().filter_map(number).filter(ours).collect()
}

/// Waits until nobody works in `folder`, for some time.
pub fn await_end(folder: &Path) {
    let works_there = |pid: u32| fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|cwd| cwd == folder);
    let began = Instant::now();
    while process::all(&Kernel::default()).into_iter().any(works_there) && began.elapsed() < Duration::from_secs(20) {
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Removes the System V segment of a server that was killed and whose data directory shall go: the next server in it would
/// have done so. The seventh line of `postmaster.pid` is its key and its id (PostgreSQL's `utils/pidfile.h`).
pub fn release_memory(data: &Path, account: &Account) {
    let text = read_text(&data.join("postmaster.pid"), 4096).unwrap_or_default();
    let mut numbers = text.lines().nth(6).unwrap_or_default().split_whitespace().map(str::parse::<u64>);
    if let (Some(Ok(key)), Some(Ok(id))) = (numbers.next(), numbers.next()) {
        // A key is 32 bits, which the server writes as 64.
        shared_memory::release(key as u32, id as u32, account);
    }
}

/// Where there is no `/proc`: whether a process was started with this data directory.
fn was_started_for(pid: u32, data: &Path) -> bool {
    let output = Command::new("ps").args(["-o", "args=", "-p", &pid.to_string()]).output();
    output.is_ok_and(|output| String::from_utf8_lossy(&output.stdout).contains(&data.display().to_string()))
}
