//! A control group of the test's own: version 1 where the controller is mounted so, else version 2.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::{fs, io};

use mindful_conformance::not_run;

use crate::mindful::report::device_of;

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// The period of a group's CPU limit, us.
const PERIOD_US: u32 = 20_000;

fn quota_us(share: f64) -> f64 {
    (share * f64::from(PERIOD_US)).round()
}

/// Removed when this is dropped, after the processes in it have ended.
pub(super) struct ControlGroup {
    path: PathBuf,
}

impl ControlGroup {
    /// A group that may use `share` of one CPU; `None` after a notice that this host has none.
    pub(super) fn with_cpu(share: f64) -> Option<Self> {
        let quota = quota_us(share);
        let old = [("cpu.cfs_period_us", PERIOD_US.to_string()), ("cpu.cfs_quota_us", quota.to_string())];
        Self::limited("cpu", &old, &[("cpu.max", format!("{quota} {PERIOD_US}"))])
    }

    /// Lets a group made by [`Self::with_cpu`] use another share of one CPU from now on.
    pub(super) fn allow_cpu(&self, share: f64) {
        let (quota, new) = (quota_us(share), self.path.join("cpu.max"));
        let written = if new.exists() {
            fs::write(new, format!("{quota} {PERIOD_US}"))
        } else {
            fs::write(self.path.join("cpu.cfs_quota_us"), quota.to_string())
        };
        written.unwrap();
    }

    /// A group that may read this many times a second from `device`; `None` after a notice that this host has none.
    pub(super) fn with_reads(device: &str, per_s: u32) -> Option<Self> {
        let old = [("blkio.throttle.read_iops_device", format!("{device} {per_s}"))];
        Self::limited("blkio", &old, &[("io.max", format!("{device} riops={per_s}"))])
    }

    /// A group that may write this many times a second to the device that holds `path`.
    pub(super) fn with_writes_of(path: &Path, per_s: u32) -> Option<Self> {
        let device = device_of(path)?;
        let old = [("blkio.throttle.write_iops_device", format!("{device} {per_s}"))];
        Self::limited("blkio", &old, &[("io.max", format!("{device} wiops={per_s}"))])
    }

    /// Lets a group made by [`Self::with_reads_of`] read this many times a second from now on; `None`: unlimited.
    pub(super) fn allow_reads(&self, path: &Path, per_s: Option<u32>) {
        let (old, new) = (self.path.join("blkio.throttle.read_iops_device"), self.path.join("io.max"));
        let device = device_of(path).unwrap();
        let written = if new.exists() {
            fs::write(new, per_s.map_or(format!("{device} riops=max"), |reads| format!("{device} riops={reads}")))
        } else {
            fs::write(old, format!("{device} {}", per_s.unwrap_or(0)))
        };
        written.unwrap();
    }

    /// The same for the device that contains `path`, if no layer hides it.
    pub(super) fn with_reads_of(path: &Path, per_s: u32) -> Option<Self> {
        let device = device_of(path);
        if device.is_none() {
            not_run("a layer hides the device that it would throttle");
        }
        Self::with_reads(&device?, per_s)
    }

    /// A group with the limits of version 1, or that of version 2.
    fn limited(controller: &str, old: &[(&str, String)], new: &[(&str, String)]) -> Option<Self> {
        let made = Self::new(controller).and_then(|(group, first)| {
            for (file, value) in if first { old } else { new } {
                fs::write(group.path.join(file), value)?;
            }
            Ok(group)
        });
        let skip = |error| not_run(&format!("it limits a process by a control group, which takes root: {error}"));
        made.map_err(skip).ok()
    }

    /// A group that may use `bytes` of memory, then one in it without a limit of its own; `None` after a notice that
    /// this host has none.
    pub(super) fn with_memory(bytes: u64) -> Option<(Self, Self)> {
        let of = |file: &'static str| [(file, bytes.to_string())];
        let above = Self::limited("memory", &of("memory.limit_in_bytes"), &of("memory.max"))?;
        let below = Self { path: above.path.join("below") };
        fs::create_dir_all(&below.path).unwrap();
        Some((above, below))
    }

    /// Puts a process, and its future children, into the group.
    pub(super) fn hold(&self, pid: u32) {
        fs::write(self.processes(), pid.to_string()).unwrap();
    }

    /// The same for a process that may have ended.
    pub(super) fn try_hold(&self, pid: u32) {
        let _ = fs::write(self.processes(), pid.to_string());
    }

    /// Where a process writes its number to put itself into the group.
    pub(super) fn processes(&self) -> PathBuf {
        self.path.join("cgroup.procs")
    }

    /// The group, and whether it is of version 1.
    fn new(controller: &str) -> io::Result<(Self, bool)> {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        let mounted = |kind: &str, option: Option<&str>| {
            mounts.lines().find_map(|line| {
                let fields: Vec<_> = line.split(' ').collect();
                let has = option.is_none_or(|option| fields[3].split(',').any(|has| has == option));
                (fields[2] == kind && has).then(|| PathBuf::from(fields[1]))
            })
        };
        let first = mounted("cgroup", Some(controller));
        let root = first.clone().or_else(|| mounted("cgroup2", None)).ok_or(io::ErrorKind::NotFound)?;
        if first.is_none() {
            let name = if controller == "blkio" { "io" } else { controller };
            let _ = fs::write(root.join("cgroup.subtree_control"), format!("+{name}"));
        }
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let group = Self { path: root.join(format!("mindful-lies-{}-{controller}-{number}", std::process::id())) };
        fs::create_dir_all(&group.path)?;
        Ok((group, first.is_some()))
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        remove(&self.path);
    }
}

/// The last process may need a moment to be gone.
fn remove(path: &Path) {
    for _ in 0..100 {
        if fs::remove_dir(path).is_ok() || !path.exists() {
            return;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}
