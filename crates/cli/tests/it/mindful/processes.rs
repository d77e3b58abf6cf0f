//! Processes, as the kernel shows them.

use std::fs;
use std::process::Child;

use crate::mindful::wait_until;

/// A process that is at work until it is dropped.
pub(crate) struct Background(pub Child);

impl Drop for Background {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A field of the status of a process; `None` once it is gone.
pub(crate) fn status(pid: u32, field: &str) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| Some(line.strip_prefix(field)?.strip_prefix(':')?.trim().to_owned()))
}

/// What the kernel counts of a process, from its state on; nothing once it is gone.
pub(crate) fn stat(pid: u32) -> Vec<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let (_, fields) = stat.rsplit_once(") ").unwrap_or_default();
    fields.split_whitespace().map(str::to_owned).collect()
}

/// Whether a process is gone, or has only not been waited for.
pub(crate) fn has_ended(pid: u32) -> bool {
    stat(pid).first().is_none_or(|state| state == "Z")
}

pub(crate) fn all() -> impl Iterator<Item = u32> {
    fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

pub(crate) fn command_line(pid: u32) -> String {
    fs::read(format!("/proc/{pid}/cmdline"))
        .map_or_else(|_| String::new(), |line| String::from_utf8_lossy(&line).into())
}

/// Waits until `child` has a handler for SIGINT: an earlier signal ends it like any process.
pub(crate) fn wait_for_handlers(child: &Child) {
    const SIGINT: u64 = 1 << 1;
    let caught = || u64::from_str_radix(&status(child.id(), "SigCgt").unwrap_or_default(), 16).unwrap_or(0);
    wait_until("it installs no signal handler", || caught() & SIGINT != 0);
}

/// The memory of a process by a field of its status, such as the most that it ever had.
pub(crate) fn memory_kib(pid: u32, field: &str) -> Option<u64> {
    status(pid, field)?.split_whitespace().next()?.parse().ok()
}
