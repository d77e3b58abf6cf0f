//! Keeps the processes of a server on some CPUs.

use std::fs;

use mindful_core::{Error, Result};
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Puts the server whose first process is `pid` on CPU 0, or on all CPUs mindful may use. Processes that it starts later
/// inherit it.
pub fn of_server(pid: u32, one_core: bool) -> Result<()> {
    let failed = |error: rustix::io::Errno| {
        Error::run(
            format!("the server (pid {pid}) cannot be kept on some CPUs: {error}"),
            "run as its owner or as root",
        )
    };
    let mut cpus = sched_getaffinity(None).map_err(failed)?;
    if one_core {
        let first = (0..CpuSet::MAX_CPU).find(|cpu| cpus.is_set(*cpu)).unwrap_or(0);
        cpus = CpuSet::new();
        cpus.set(first);
    }
    for process in std::iter::once(pid).chain(children(pid)) {
        let Some(process) = i32::try_from(process).ok().and_then(Pid::from_raw) else { continue };
        match sched_setaffinity(Some(process), &cpus) {
            // A process that ended meanwhile needs none.
            Ok(()) | Err(rustix::io::Errno::SRCH) => {}
            Err(error) => return Err(failed(error)),
        }
    }
    Ok(())
}

/// The first CPU mindful may use, as the raw engine's option takes it.
pub fn first_cpu() -> String {
    let cpus = sched_getaffinity(None).ok();
    let first = cpus.and_then(|cpus| (0..CpuSet::MAX_CPU).find(|cpu| cpus.is_set(*cpu)));
    first.unwrap_or(0).to_string()
}

/// Processes whose parent is `pid`.
fn children(pid: u32) -> Vec<u32> {
    let parent = |process: u32| {
        let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // The name may hold spaces and brackets; what follows its last bracket is state and parent.
        stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()
    };
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|process| parent(*process) == Some(pid))
        .collect()
}
