//! Servers that outlived their mindful.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use mindful_core::event::{Events, note};
use mindful_core::{Error, Result};
use rustix::process::{Pid, Signal, kill_process};

/// How long a fast shutdown may take before the server is told to give up, and then before it is killed.
const PATIENCE: [(Signal, Duration); 3] = [
    (Signal::INT, Duration::from_secs(10)),
    (Signal::QUIT, Duration::from_secs(5)),
    (Signal::KILL, Duration::from_secs(10)),
];

/// Stops every server process that still works in this data directory.
pub fn stop(data: &Path, events: &dyn Events) -> Result<()> {
    let found = processes(data);
    if found.is_empty() {
        return Ok(());
    }
    let numbers: Vec<_> = found.iter().map(u32::to_string).collect();
    note(events, format!("a server of an earlier run still works in {}: stopping it", data.display()));
    for (signal, patience) in PATIENCE {
        let began = Instant::now();
        while began.elapsed() < patience {
            let left = processes(data);
            if left.is_empty() {
                return Ok(());
            }
            for pid in targets(data, &left) {
                // It may have ended just now, which is as well.
                let _ = kill_process(pid, signal);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
    Err(Error::target(
        format!("the server in {} cannot be stopped (process {})", data.display(), numbers.join(", ")),
        "end it by hand, or give another --data-dir",
    ))
}

/// The postmaster alone if it lives, for it stops the others; else the orphans.
fn targets(data: &Path, processes: &[u32]) -> Vec<Pid> {
    let postmaster = postmaster(data).filter(|pid| processes.contains(pid));
    let all = postmaster.map_or_else(|| processes.to_vec(), |pid| vec![pid]);
    all.into_iter().filter_map(|pid| Pid::from_raw(pid as i32)).collect()
}

fn postmaster(data: &Path) -> Option<u32> {
    fs::read_to_string(data.join("postmaster.pid")).ok()?.lines().next()?.trim().parse().ok()
}

/// All server processes of a data directory: every one of them works in it, and their program is called postgres.
fn processes(data: &Path) -> Vec<u32> {
    let Ok(entries) = fs::read_dir("/proc") else { return by_ps(data) };
    let number = |entry: fs::DirEntry| entry.file_name().to_str()?.parse::<u32>().ok();
    let ours = |pid: &u32| {
        let folder = PathBuf::from(format!("/proc/{pid}"));
        fs::read_link(folder.join("cwd")).is_ok_and(|cwd| cwd == data)
            && fs::read_to_string(folder.join("comm")).is_ok_and(|name| name.trim() == "postgres")
    };
    entries.flatten().filter_map(number).filter(ours).collect()
}

/// Where there is no `/proc`: the postmaster, if a process of that number was started for this data directory.
fn by_ps(data: &Path) -> Vec<u32> {
    let Some(pid) = postmaster(data) else { return Vec::new() };
    let output = Command::new("ps").args(["-o", "args=", "-p", &pid.to_string()]).output();
    let text = output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
    if text.contains(&data.display().to_string()) { vec![pid] } else { Vec::new() }
}
