//! Limits and throttling of the control group a process lives in, of version 1 and version 2.
//!
//! A limit of any group above holds as well: what counts is the tightest on the way to the root that can be seen.

use std::fs;
use std::path::{Path, PathBuf};

use crate::kernel_file::Kernel;
use crate::kernel_file::value;
use crate::mounts::{self, Mount};

/// Version 1 writes "no limit" as the largest number of whole pages.
const NO_LIMIT_BYTES: u64 = 1 << 62;

/// A line of `/proc/PID/cgroup`: the controllers (none in version 2) and the group.
fn parse(text: &str) -> Vec<(Vec<&str>, &str)> {
    let lines = text.lines().filter_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let controllers = parts.next()?.split(',').filter(|name| !name.is_empty()).collect();
        Some((controllers, parts.next()?))
    });
    lines.collect()
}

/// The folders of a process's group for one controller, the group itself first, then those above it.
fn folders(groups: &[(Vec<&str>, &str)], mounts: &[Mount], controller: &str) -> Vec<PathBuf> {
    let first = mounts
        .iter()
        .find(|mount| mount.fs_type == "cgroup" && mount.options.split(',').any(|option| option == controller));
    let (mount, group) = match first {
        Some(mount) => (Some(mount), groups.iter().find(|(names, _)| names.contains(&controller))),
        None => {
            (mounts.iter().find(|mount| mount.fs_type == "cgroup2"), groups.iter().find(|(names, _)| names.is_empty()))
        }
    };
    let (Some(mount), Some((_, group))) = (mount, group) else { return Vec::new() };
    // What is mounted may be a part of the whole tree, as in a container.
    let Ok(inside) = Path::new(group).strip_prefix(&mount.root) else { return Vec::new() };
    let folder = mount.point.join(inside);
    folder.ancestors().take_while(|above| above.starts_with(&mount.point)).map(Path::to_owned).collect()
}

/// What a group allows.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limits {
    /// CPUs' worth of time; `None`: no limit.
    pub cpus: Option<f64>,
    /// The file that holds the limit of CPU.
    pub cpus_file: Option<PathBuf>,
    /// Bytes of memory, page cache included; `None`: no limit.
    pub memory_bytes: Option<u64>,
    /// The file that holds the limit of memory.
    pub memory_file: Option<PathBuf>,
    /// Limits of I/O as the kernel writes them; `None`: no limit.
    pub io: Option<String>,
}

/// The control groups of one process.
#[derive(Debug, Clone, Default)]
pub struct Groups {
    cpu: Vec<PathBuf>,
    cpu_account: Vec<PathBuf>,
    memory: Vec<PathBuf>,
    io: Vec<PathBuf>,
}

impl Groups {
    /// Those of the process `pid`, none where they cannot be seen.
    pub fn of(kernel: &Kernel, pid: u32) -> Self {
        let Ok(text) = fs::read_to_string(kernel.proc.join(pid.to_string()).join("cgroup")) else {
            return Self::default();
        };
        let groups = parse(&text);
        let mounts = mounts::read(kernel);
        let of = |controller| folders(&groups, &mounts, controller);
        Self { cpu: of("cpu"), cpu_account: of("cpuacct"), memory: of("memory"), io: of("blkio") }
    }

    /// The tightest limits on the way up.
    pub fn limits(&self) -> Limits {
        let io = self.io.iter().filter_map(|folder| io_limit(folder)).collect::<Vec<_>>();
        let (cpus, cpus_file) =
            self.cpu.iter().filter_map(|folder| cpu_limit(folder)).min_by(|a, b| a.0.total_cmp(&b.0)).unzip();
        let (memory_bytes, memory_file) = self.memory.iter().filter_map(|folder| memory_limit(folder)).min().unzip();
        Limits { cpus, cpus_file, memory_bytes, memory_file, io: (!io.is_empty()).then(|| io.join("; ")) }
    }

    /// Folder of the nearest group with a limit of CPU; without any, of the process's own.
    pub fn throttled(&self) -> Option<&Path> {
        self.cpu.iter().find(|folder| cpu_limit(folder).is_some()).or(self.cpu.first()).map(PathBuf::as_path)
    }

    /// Folder of the process's own group for CPU.
    pub fn cpu(&self) -> Option<&Path> {
        self.cpu.first().map(PathBuf::as_path)
    }

    /// Folder of its group that accounts CPU in version 1.
    pub fn cpu_account(&self) -> Option<&Path> {
        self.cpu_account.first().map(PathBuf::as_path)
    }

    /// Folder of its group for memory.
    pub fn memory(&self) -> Option<&Path> {
        self.memory.first().map(PathBuf::as_path)
    }
}

/// CPUs' worth of time, and the file to write to for another limit.
fn cpu_limit(folder: &Path) -> Option<(f64, PathBuf)> {
    let version_1 = || {
        let file = "cpu.cfs_quota_us";
        Some((file, value(folder.join(file))?, value(folder.join("cpu.cfs_period_us"))?))
    };
    let version_2 =
        |both: String| both.split_once(' ').map(|(quota, period)| ("cpu.max", quota.to_owned(), period.to_owned()));
    let (file, quota, period) = value(folder.join("cpu.max")).map_or_else(version_1, version_2)?;
    let (quota, period): (f64, f64) = (quota.parse().ok()?, period.parse().ok()?);
    (quota > 0.0 && period > 0.0).then(|| (quota / period, folder.join(file)))
}

/// Bytes, and the file that says so.
fn memory_limit(folder: &Path) -> Option<(u64, PathBuf)> {
    let files = ["memory.max", "memory.high", "memory.limit_in_bytes"].map(|file| folder.join(file));
    let limits = files.into_iter().filter_map(|file| Some((value(&file)?.parse::<u64>().ok()?, file)));
    limits.filter(|(bytes, _)| *bytes < NO_LIMIT_BYTES).min()
}

fn io_limit(folder: &Path) -> Option<String> {
    let files = [
        "io.max",
        "blkio.throttle.read_bps_device",
        "blkio.throttle.read_iops_device",
        "blkio.throttle.write_bps_device",
        "blkio.throttle.write_iops_device",
    ];
    let limits: Vec<String> = files
        .iter()
        .filter_map(|file| Some(format!("{file} {}", value(folder.join(file))?.replace('\n', ", "))))
        .collect();
    (!limits.is_empty()).then(|| limits.join("; "))
}

#[cfg(test)]
mod tests {
    use mindful_conformance::control_groups;
    use proptest::prelude::*;

    use super::*;

    fn groups(tree: fn(&Path) -> PathBuf) -> (tempfile::TempDir, Groups) {
        let root = tempfile::tempdir().unwrap();
        let kernel = Kernel { proc: tree(root.path()), ..Kernel::default() };
        let groups = Groups::of(&kernel, 42);
        (root, groups)
    }

    #[test]
    fn in_version_2_the_tightest_limit_on_the_way_up_holds() {
        let (_root, groups) = groups(control_groups::version_2);
        let limits = groups.limits();
        assert_eq!((limits.cpus, limits.memory_bytes), (Some(1.5), Some(1 << 30)));
        assert!(limits.cpus_file.unwrap().ends_with("cg/db/cpu.max"));
        assert!(limits.memory_file.unwrap().ends_with("cg/db/memory.max"));
        assert!(limits.io.unwrap().contains("rbps=1048576"));
        assert!(groups.throttled().unwrap().ends_with("cg/db"), "{groups:?}");
        assert!(groups.cpu().unwrap().ends_with("cg/db/pg"), "{groups:?}");
    }

    #[test]
    fn in_version_1_each_controller_has_its_own_tree() {
        let (_root, groups) = groups(control_groups::version_1);
        let file = groups.memory.last().map(|folder| folder.join("memory.limit_in_bytes"));
        let memory = Limits { memory_bytes: Some(2 << 30), memory_file: file, ..Limits::default() };
        assert_eq!(groups.limits(), memory);
        assert!(groups.cpu_account().unwrap().ends_with("cpuacct/a") && groups.memory().unwrap().ends_with("memory/m"));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn no_text_makes_the_parser_panic(text in "([0-9]+:|[a-z]+,|:/|\\PC|\n){0,40}") {
            for (controllers, _) in parse(&text) {
                prop_assert!(controllers.iter().all(|name| !name.is_empty()));
            }
        }
    }
}
