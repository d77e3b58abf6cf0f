//! Limits and throttling of the control group of a process, in version 1 and version 2.
//!
//! Limits of the groups above hold as well: the tightest visible one on the way to the root counts.

use std::fs;
use std::path::{Path, PathBuf};

use crate::device;
use crate::kernel_file::{Kernel, value};
use crate::mounts::{self, Mount};

/// Version 1 writes "no limit" as the largest number of whole pages.
const NO_LIMIT_BYTES: u64 = 1 << 62;

/// Prefix of files of version 1.
const THROTTLE: &str = "blkio.throttle.";

const CPU_WEIGHTS: [&str; 4] = ["cpu.weight", "cpu.idle", "cpu.uclamp.max", "cpu.shares"];
const IO_WEIGHTS: [&str; 4] = ["io.weight", "io.bfq.weight", "blkio.weight", "blkio.bfq.weight"];
const MEMORY_WEIGHTS: [&str; 4] = ["memory.min", "memory.low", "memory.swap.max", "memory.swappiness"];

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
    // A mount may contain only a part of the whole tree, as in a container.
    let Ok(inside) = Path::new(group).strip_prefix(&mount.root) else { return Vec::new() };
    let folder = mount.point.join(inside);
    folder.ancestors().take_while(|above| above.starts_with(&mount.point)).map(Path::to_owned).collect()
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Limits {
    /// CPUs' worth of time, and the file of the limit; `None`: no limit.
    pub cpus: Option<(f64, PathBuf)>,
    /// Bytes of memory, page cache included, and the file of the limit; `None`: no limit.
    pub memory: Option<(u64, PathBuf)>,
    /// Limits of I/O as the kernel writes them; `None`: no limit.
    pub io: Option<String>,
}

/// A limit of I/O that a group has at one device.
#[derive(Debug, Clone, PartialEq)]
pub struct IoLimit {
    /// The device, as the kernel numbers it: `254:0`.
    pub device: String,
    pub kind: IoKind,
    pub per_s: f64,
    folder: PathBuf,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoKind {
    Reads,
    ReadBytes,
    Writes,
    WriteBytes,
}

impl IoKind {
    pub(crate) const ALL: [Self; 4] = [Self::Reads, Self::ReadBytes, Self::Writes, Self::WriteBytes];

    /// In version 2 the keys of the limit in `io.max` and of the use in `io.stat`. In version 1 the files of the limit and
    /// of the use, and the word before the count.
    const fn names(self) -> [&'static str; 5] {
        match self {
            Self::Reads => ["riops", "rios", "read_iops_device", "io_serviced", "Read"],
            Self::ReadBytes => ["rbps", "rbytes", "read_bps_device", "io_service_bytes", "Read"],
            Self::Writes => ["wiops", "wios", "write_iops_device", "io_serviced", "Write"],
            Self::WriteBytes => ["wbps", "wbytes", "write_bps_device", "io_service_bytes", "Write"],
        }
    }
}

impl IoLimit {
    /// The group's use so far; `None` if not reported.
    pub fn done(&self) -> Option<f64> {
        let [_, key, _, file, word] = self.kind.names();
        let text = |file: &str| value(self.folder.join(file)).unwrap_or_default();
        let (new, old) = (text("io.stat"), text(&format!("{THROTTLE}{file}")));
        let version_2 = numbers_of(&new, key).find(|(device, _)| *device == self.device);
        version_2.map(|(_, done)| done).or_else(|| {
            let mut lines = old.lines().filter_map(|line| line.strip_prefix(self.device.as_str())?.strip_prefix(' '));
            lines.find_map(|rest| rest.strip_prefix(word)?.trim().parse().ok())
        })
    }

    /// The device's name; its number if it is not listed.
    pub fn device_name(&self, kernel: &Kernel) -> String {
        let name = device::parse_number(&self.device).and_then(|number| device::name(kernel, number));
        name.unwrap_or_else(|| self.device.clone())
    }

    fn of(folder: &Path) -> Vec<Self> {
        let io_max = value(folder.join("io.max")).unwrap_or_default();
        let mut limits = Vec::new();
        for kind in IoKind::ALL {
            let [key, _, file, ..] = kind.names();
            let old = value(folder.join(format!("{THROTTLE}{file}"))).unwrap_or_default();
            let version_1 = old.lines().filter_map(|line| line.split_once(' '));
            let version_1 = version_1.filter_map(|(device, limit)| Some((device, limit.trim().parse().ok()?)));
            let all = numbers_of(&io_max, key).chain(version_1).filter(|(_, per_s)| *per_s > 0.0);
            limits.extend(all.map(|(device, per_s)| Self {
                device: device.to_owned(),
                kind,
                per_s,
                folder: folder.to_owned(),
            }));
        }
        limits
    }
}

/// Of a text of version 2, "a device, then KEY=NUMBER, KEY=max ..." a line, the numbers under `key`.
fn numbers_of<'a>(text: &'a str, key: &'a str) -> impl Iterator<Item = (&'a str, f64)> {
    text.lines().filter_map(move |line| {
        let (device, rest) = line.split_once(' ')?;
        let number = rest.split(' ').find_map(|word| word.strip_prefix(key)?.strip_prefix('='))?;
        Some((device, number.parse().ok()?))
    })
}

/// Folders of the groups of a process, by controller: its own first, then those above it.
#[derive(Debug, Clone, Default)]
pub struct Groups {
    pub cpu: Vec<PathBuf>,
    /// The groups that account CPU in version 1.
    pub cpu_account: Vec<PathBuf>,
    pub memory: Vec<PathBuf>,
    io: Vec<PathBuf>,
}

impl Groups {
    /// The groups of the process `pid`; empty if they are not visible.
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
        let cpus = self.cpu.iter().filter_map(|folder| cpu_limit(folder)).min_by(|a, b| a.0.total_cmp(&b.0));
        let memory = self.memory.iter().filter_map(|folder| memory_limit(folder)).min();
        Limits { cpus, memory, io: (!io.is_empty()).then(|| io.join("; ")) }
    }

    /// Files by which the kernel divides what groups compete for, with their values from the group itself to the root.
    pub fn weights(&self) -> Vec<(&'static str, String)> {
        let of = |folders: &[PathBuf], file| {
            let all: Vec<_> = folders.iter().filter_map(|folder| value(folder.join(file))).collect();
            (!all.is_empty()).then(|| (file, all.join(" < ").replace('\n', ", ")))
        };
        let all = [(&self.cpu, CPU_WEIGHTS), (&self.io, IO_WEIGHTS), (&self.memory, MEMORY_WEIGHTS)];
        all.into_iter()
            .flat_map(|(folders, files)| files.into_iter().filter_map(move |file| of(folders, file)))
            .collect()
    }

    /// The tightest limit of each kind of I/O at each device on the way up.
    pub fn io_limits(&self) -> Vec<IoLimit> {
        let mut tightest: Vec<IoLimit> = Vec::new();
        for limit in self.io.iter().flat_map(|folder| IoLimit::of(folder)) {
            match tightest.iter_mut().find(|other| (other.kind, &other.device) == (limit.kind, &limit.device)) {
                Some(other) if limit.per_s < other.per_s => *other = limit,
                Some(_) => {}
                None => tightest.push(limit),
            }
        }
        tightest
    }

    /// Folder of the nearest group with a limit of CPU; without a limit, of the process's own.
    pub fn throttled(&self) -> Option<&Path> {
        self.cpu.iter().find(|folder| cpu_limit(folder).is_some()).or(self.cpu.first()).map(PathBuf::as_path)
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

/// The limit in bytes, and its file.
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
        // These limit other groups for the benefit of the group that has them.
        "io.latency",
        "io.cost.qos",
    ];
    let set = |file: &&str| value(folder.join(file)).filter(|text| !text.contains("enable=0"));
    let limits: Vec<String> =
        files.iter().filter_map(|file| Some(format!("{file} {}", set(file)?.replace('\n', ", ")))).collect();
    (!limits.is_empty()).then(|| limits.join("; "))
}

#[cfg(test)]
mod tests {
    use mindful_conformance::{any_text, control_groups};

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
        assert!(
            limits
                .cpus
                .is_some_and(|(cpus, file)| cpus.to_bits() == 1.5_f64.to_bits() && file.ends_with("cg/db/cpu.max"))
        );
        assert!(limits.memory.is_some_and(|(bytes, file)| bytes == 1 << 30 && file.ends_with("cg/db/memory.max")));
        assert!(limits.io.unwrap().contains("rbps=1048576"));
        let io = groups.io_limits();
        assert_eq!(
            (io.len(), io[0].device.as_str(), io[0].kind, io[0].per_s),
            (1, "254:0", IoKind::ReadBytes, 1_048_576.0)
        );
        assert_eq!(io[0].done(), Some(77_824.0));
        assert!(groups.throttled().unwrap().ends_with("cg/db"), "{groups:?}");
        assert!(groups.cpu[0].ends_with("cg/db/pg"), "{groups:?}");
    }

    #[test]
    fn in_version_1_each_controller_has_its_own_tree() {
        let (_root, groups) = groups(control_groups::version_1);
        let memory = groups.memory.last().map(|folder| (2 << 30, folder.join("memory.limit_in_bytes")));
        assert_eq!(groups.limits(), Limits { io: groups.limits().io, memory, cpus: None });
        let io: Vec<_> = groups.io_limits().iter().map(|limit| (limit.kind, limit.per_s, limit.done())).collect();
        assert_eq!(io, [(IoKind::Reads, 900.0, Some(34.0)), (IoKind::WriteBytes, 65_536.0, None)]);
        assert!(groups.cpu_account[0].ends_with("cpuacct/a") && groups.memory[0].ends_with("memory/m"));
    }

    #[test]
    fn no_text_makes_the_parser_panic() {
        any_text("([0-9]+:|[a-z]+,|:/|\\PC|\n){0,40}", |text| {
            let empty = parse(text).into_iter().flat_map(|(controllers, _)| controllers).find(|name| name.is_empty());
            assert_eq!(empty, None);
        });
    }
}
