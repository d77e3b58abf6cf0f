//! A control group of the test's own: version 1 where the controller is mounted so, else version 2.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use std::{fs, io};

use mindful_conformance::not_run;

use crate::mindful::report::device_of;
use crate::mindful::{Mindful, Words};

static NUMBER: AtomicU32 = AtomicU32::new(0);

/// The period of a group's CPU limit, us.
const PERIOD_US: u32 = 20_000;

/// A limit in the files of a group: of version 1, and of version 2.
struct Limit {
    old: Vec<(&'static str, String)>,
    new: (&'static str, String),
}

/// `share` of one CPU.
fn cpu(share: f64) -> Limit {
    let quota = (share * f64::from(PERIOD_US)).round();
    let old = vec![("cpu.cfs_period_us", PERIOD_US.to_string()), ("cpu.cfs_quota_us", quota.to_string())];
    Limit { old, new: ("cpu.max", format!("{quota} {PERIOD_US}")) }
}

/// So many reads of `device` a second; `None`: unlimited.
fn reads(device: &str, per_s: Option<u32>) -> Limit {
    let old = vec![("blkio.throttle.read_iops_device", format!("{device} {}", per_s.unwrap_or(0)))];
    let most = per_s.map_or("max".to_owned(), |reads| reads.to_string());
    Limit { old, new: ("io.max", format!("{device} riops={most}")) }
}

/// Removed when this is dropped, after the processes in it have ended. Constructors return `None` after a notice that this
/// host has none.
pub(super) struct ControlGroup {
    path: PathBuf,
    is_first: bool,
}

impl ControlGroup {
    /// A group that may use `share` of one CPU.
    pub(super) fn with_cpu(share: f64) -> Option<Self> {
        Self::limited("cpu", &cpu(share))
    }

    /// Lets a group made by [`Self::with_cpu`] use another share of one CPU from now on.
    pub(super) fn allow_cpu(&self, share: f64) {
        self.set(&cpu(share)).unwrap();
    }

    /// A group that may read this many times a second from `device`.
    pub(super) fn with_reads(device: &str, per_s: u32) -> Option<Self> {
        Self::limited("blkio", &reads(device, Some(per_s)))
    }

    /// The same for the device that contains `path`, if no layer hides it.
    pub(super) fn with_reads_of(path: &Path, per_s: u32) -> Option<Self> {
        let device = device_of(path);
        if device.is_none() {
            not_run("a layer hides the device that it would throttle");
        }
        Self::with_reads(&device?, per_s)
    }

    /// Lets a group made by [`Self::with_reads_of`] read this many times a second from now on; `None`: unlimited.
    pub(super) fn allow_reads(&self, path: &Path, per_s: Option<u32>) {
        self.set(&reads(&device_of(path).unwrap(), per_s)).unwrap();
    }

    /// A group that may write this many times a second to the device that holds `path`.
    pub(super) fn with_writes_of(path: &Path, per_s: u32) -> Option<Self> {
        let device = device_of(path)?;
        let old = vec![("blkio.throttle.write_iops_device", format!("{device} {per_s}"))];
        Self::limited("blkio", &Limit { old, new: ("io.max", format!("{device} wiops={per_s}")) })
    }

    /// A group that may use `bytes` of memory, then one in it without a limit of its own.
    pub(super) fn with_memory(bytes: u64) -> Option<(Self, Self)> {
        let (old, new) = (vec![("memory.limit_in_bytes", bytes.to_string())], ("memory.max", bytes.to_string()));
        let above = Self::limited("memory", &Limit { old, new })?;
        let below = Self { path: above.path.join("below"), is_first: above.is_first };
        fs::create_dir_all(&below.path).unwrap();
        Some((above, below))
    }

    fn limited(controller: &str, limit: &Limit) -> Option<Self> {
        let made = Self::new(controller).and_then(|group| group.set(limit).map(|()| group));
        let skip = |error| not_run(&format!("it limits a process by a control group, which takes root: {error}"));
        made.map_err(skip).ok()
    }

    fn set(&self, limit: &Limit) -> io::Result<()> {
        let files = if self.is_first { &limit.old[..] } else { std::slice::from_ref(&limit.new) };
        files.iter().try_for_each(|(file, value)| fs::write(self.path.join(file), value))
    }

    /// The output of a command that is in the group from its start.
    pub(super) fn output(&self, mindful: &Mindful, args: impl Words) -> Output {
        let mut held = Command::new("sh");
        held.args(["-c", "echo $$ > \"$0\" && exec \"$@\""]).arg(self.processes());
        mindful.at_home(held).arg(env!("CARGO_BIN_EXE_mindful")).args(args.words()).output().unwrap()
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
    fn processes(&self) -> PathBuf {
        self.path.join("cgroup.procs")
    }

    fn new(controller: &str) -> io::Result<Self> {
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
        let path = root.join(format!("mindful-lies-{}-{controller}-{number}", std::process::id()));
        fs::create_dir_all(&path)?;
        Ok(Self { path, is_first: first.is_some() })
    }
}

impl Drop for ControlGroup {
    fn drop(&mut self) {
        // The last process may need a moment to be gone.
        for _ in 0..100 {
            if fs::remove_dir(&self.path).is_ok() || !self.path.exists() {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
