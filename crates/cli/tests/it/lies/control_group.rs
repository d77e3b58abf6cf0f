//! A control group of the test's own: version 1 where the controller is mounted so, else version 2.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Removed when this is dropped, after the processes in it have ended.
pub struct ControlGroup {
    path: PathBuf,
}

impl ControlGroup {
    /// A group that may use `share` of one CPU.
    pub fn with_cpu(share: f64) -> Self {
        let (group, first) = Self::new("cpu");
        let (quota, period) = ((share * 20_000.0).round(), 20_000);
        if first {
            group.write("cpu.cfs_period_us", &period.to_string());
            group.write("cpu.cfs_quota_us", &quota.to_string());
        } else {
            group.write("cpu.max", &format!("{quota} {period}"));
        }
        group
    }

    /// A group that may read so often a second from `device`.
    pub fn with_reads(device: &str, per_s: u32) -> Self {
        let (group, first) = Self::new("blkio");
        if first {
            group.write("blkio.throttle.read_iops_device", &format!("{device} {per_s}"));
        } else {
            group.write("io.max", &format!("{device} riops={per_s}"));
        }
        group
    }

    /// Puts a process, and what it starts from now on, into the group.
    pub fn hold(&self, pid: u32) {
        self.write("cgroup.procs", &pid.to_string());
    }

    /// Where a process writes its number to put itself into the group.
    pub fn processes(&self) -> PathBuf {
        self.path.join("cgroup.procs")
    }

    /// The group, and whether it is of version 1.
    fn new(controller: &str) -> (Self, bool) {
        let mounts = fs::read_to_string("/proc/self/mounts").unwrap();
        let mounted = |kind: &str, option: Option<&str>| {
            mounts.lines().find_map(|line| {
                let fields: Vec<_> = line.split(' ').collect();
                let has = option.is_none_or(|option| fields[3].split(',').any(|has| has == option));
                (fields[2] == kind && has).then(|| PathBuf::from(fields[1]))
            })
        };
        let first = mounted("cgroup", Some(controller));
        let root = first.clone().or_else(|| mounted("cgroup2", None)).expect("control groups are mounted");
        if first.is_none() {
            let name = if controller == "blkio" { "io" } else { controller };
            let _ = fs::write(root.join("cgroup.subtree_control"), format!("+{name}"));
        }
        let group = Self { path: root.join(format!("mindful-lies-{}-{controller}", std::process::id())) };
        fs::create_dir_all(&group.path).unwrap_or_else(|e| panic!("{}: {e}: {}", group.path.display(), NEEDS));
        (group, first.is_some())
    }

    fn write(&self, file: &str, value: &str) {
        let path = self.path.join(file);
        fs::write(&path, value).unwrap_or_else(|e| panic!("{value} to {}: {e}: {NEEDS}", path.display()));
    }
}

const NEEDS: &str = "this test throttles a server for real: run it as root, where control groups can be made";

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
