//! Processes of this host, from `/proc/PID`.

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::kernel_file::{Kernel, named_values, record, value};

/// Longer than `/proc/PID/stat` and `/proc/PID/io` can be.
pub const RECORD_BYTES: usize = 1024;

/// The flag of a kernel task (`PF_KTHREAD`). Workers of io_uring do not have it: they are threads of the process that
/// uses it.
const OF_KERNEL: u64 = 0x0020_0000;

/// `/proc/PID/stat`, as far as it is needed. Times are in ticks of [`tick_us`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// The kernel's name of the process: at most 15 bytes of its program's name.
    pub name: String,
    pub parent: u32,
    pub waits_for_disk: bool,
    pub of_kernel: bool,
    /// Page faults that waited for storage.
    pub major_faults: u64,
    pub reaped_major_faults: u64,
    pub user_ticks: u64,
    pub system_ticks: u64,
    pub reaped_user_ticks: u64,
    /// CPU in the kernel of children that were waited for, ticks.
    pub reaped_system_ticks: u64,
    /// Its nice value, and its scheduling policy by number; `None` where a kernel does not show it.
    nice: Option<i64>,
    policy: Option<u64>,
    /// Ticks since boot: distinguishes a process from a later one with its number.
    pub started: u64,
    /// Whether its memory is gone: it ends, or has ended and its parent has yet to wait for it.
    pub ended: bool,
}

impl Stat {
    pub fn read(kernel: &Kernel, pid: u32) -> io::Result<Self> {
        let mut buffer = [0; RECORD_BYTES];
        let text = record(&folder(kernel, pid).join("stat"), &mut buffer)?;
        Self::parse(&text).ok_or_else(|| io::ErrorKind::InvalidData.into())
    }

    /// In which way it gets less CPU than an ordinary process, in words; `None` if it does not.
    pub fn low_priority(&self) -> Option<String> {
        match (self.policy, self.nice) {
            (Some(3), _) => Some("SCHED_BATCH".to_owned()),
            (Some(5), _) => Some("SCHED_IDLE".to_owned()),
            (_, Some(nice)) if nice > 0 => Some(format!("nice {nice}")),
            _ => None,
        }
    }

    /// The name is in parentheses and may contain any of them: the last one ends it.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (name, rest) = text.split_once('(')?.1.rsplit_once(')')?;
        let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
        let number = |field: usize| fields.get(field - 3)?.parse::<u64>().ok();
        // The children's times are signed in the kernel's format.
        let signed = |field: usize| fields.get(field - 3)?.parse::<i64>().ok().map(|ticks| ticks.max(0).unsigned_abs());
        Some(Self {
            name: name.to_owned(),
            parent: u32::try_from(number(4)?).ok()?,
            waits_for_disk: fields.first() == Some(&"D"),
            of_kernel: number(9)? & OF_KERNEL != 0,
            major_faults: number(12)?,
            reaped_major_faults: number(13)?,
            user_ticks: number(14)?,
            system_ticks: number(15)?,
            reaped_user_ticks: signed(16)?,
            reaped_system_ticks: signed(17)?,
            nice: fields.get(19 - 3).and_then(|nice| nice.parse().ok()),
            policy: number(41),
            started: number(22)?,
            ended: number(23)? == 0,
        })
    }
}

/// The user and group ids of a process, from `/proc/PID/status`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rights {
    /// Its users: real, effective, saved, and that for files.
    pub users: Vec<u32>,
    pub groups: Vec<u32>,
    pub others: Vec<u32>,
}

impl Rights {
    /// Reads the process `pid`; `None` if it does not exist, or is a zombie.
    pub fn read(kernel: &Kernel, pid: u32) -> Option<Self> {
        let text = fs::read_to_string(folder(kernel, pid).join("status")).ok()?;
        let line = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::trim);
        let numbers = |name: &str| Some(line(name)?.split_whitespace().filter_map(|one| one.parse().ok()).collect());
        let ended = line("State:").is_none_or(|state| state.starts_with(['Z', 'X']));
        (!ended).then_some(Self { users: numbers("Uid:")?, groups: numbers("Gid:")?, others: numbers("Groups:")? })
    }
}

/// Bytes that the process `pid` fetched from storage and sent there, from `/proc/PID/io`.
pub fn storage_bytes(kernel: &Kernel, pid: u32) -> io::Result<[u64; 2]> {
    parse_storage_bytes(&folder(kernel, pid).join("io"))
}

/// The same of one thread of a process.
pub fn thread_storage_bytes(kernel: &Kernel, thread: u32) -> io::Result<[u64; 2]> {
    parse_storage_bytes(&folder(kernel, thread).join(format!("task/{thread}/io")))
}

fn parse_storage_bytes(file: &Path) -> io::Result<[u64; 2]> {
    let mut buffer = [0; RECORD_BYTES];
    let text = record(file, &mut buffer)?;
    let values = named_values(&text);
    let bytes = values.get("read_bytes").zip(values.get("write_bytes"));
    bytes.map(|(read, sent)| [*read, *sent]).ok_or(io::ErrorKind::InvalidData.into())
}

/// The process of a thread; `None` if the thread does not exist.
pub fn of_thread(kernel: &Kernel, thread: u32) -> Option<u32> {
    let status = fs::read_to_string(folder(kernel, thread).join("status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("Tgid:"))?.trim().parse().ok()
}

pub fn tick_us() -> f64 {
    1e6 / rustix::param::clock_ticks_per_second() as f64
}

pub fn folder(kernel: &Kernel, pid: u32) -> PathBuf {
    kernel.proc.join(pid.to_string())
}

/// The kernel's name of a process; `None` if it does not exist.
pub fn name(kernel: &Kernel, pid: u32) -> Option<String> {
    value(folder(kernel, pid).join("comm"))
}

/// CPU that the first thread of a process has used, all of it for a single-threaded process. `None` if not reported.
pub fn cpu(kernel: &Kernel, pid: u32) -> Option<Duration> {
    // The first field is nanoseconds on a CPU; the times of `stat` are whole ticks of 10 ms.
    let text = value(folder(kernel, pid).join("schedstat"))?;
    text.split_whitespace().next()?.parse().ok().map(Duration::from_nanos)
}

pub fn all(kernel: &Kernel) -> Vec<u32> {
    numbers(kernel.proc.clone()).unwrap_or_default()
}

pub fn threads(kernel: &Kernel, pid: u32) -> io::Result<Vec<u32>> {
    numbers(folder(kernel, pid).join("task"))
}

/// The process and all below it, parents first.
pub fn descendants(kernel: &Kernel, root: u32) -> Vec<u32> {
    let mut tree = vec![root];
    let mut next = 0;
    while let Some(&pid) = tree.get(next) {
        match children(kernel, pid) {
            Ok(children) => tree.extend(children),
            // A kernel without lists of children: read every process of the host.
            Err(_) if pid == root => return scanned_descendants(kernel, root),
            Err(_) => {}
        }
        next += 1;
    }
    tree
}

fn children(kernel: &Kernel, pid: u32) -> io::Result<Vec<u32>> {
    let mut found = Vec::new();
    let task = folder(kernel, pid).join("task");
    // The folder has two links of its own and one for each thread. Listing the single thread of each of a thousand
    // processes takes as long as reading their figures.
    let one_thread = fs::metadata(&task)?.nlink() == 3;
    for thread in if one_thread { vec![pid] } else { threads(kernel, pid)? } {
        let text = fs::read_to_string(task.join(format!("{thread}/children")))?;
        found.extend(text.split_ascii_whitespace().filter_map(|pid| pid.parse::<u32>().ok()));
    }
    Ok(found)
}

fn scanned_descendants(kernel: &Kernel, root: u32) -> Vec<u32> {
    let parent = |pid: u32| Some((pid, Stat::read(kernel, pid).ok()?.parent));
    let parents: Vec<(u32, u32)> = all(kernel).into_iter().filter_map(parent).collect();
    let mut tree = vec![root];
    let mut next = 0;
    while let Some(&pid) = tree.get(next) {
        tree.extend(parents.iter().filter(|(child, parent)| *parent == pid && *child != pid).map(|(child, _)| *child));
        next += 1;
    }
    tree
}

fn numbers(folder: PathBuf) -> io::Result<Vec<u32>> {
    let entries = fs::read_dir(folder)?;
    Ok(entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok()).collect())
}

#[cfg(test)]
mod tests {
    use mindful_conformance::any_text;

    use super::*;

    #[test]
    fn a_process_has_users_and_groups_until_it_has_ended() {
        let mine = Rights::read(&Kernel::default(), std::process::id()).unwrap();
        assert_eq!(mine.users, [rustix::process::geteuid().as_raw(); 4]);
        assert_eq!(mine.groups, [rustix::process::getegid().as_raw(); 4]);
        let mut child = std::process::Command::new("true").spawn().unwrap();
        while Rights::read(&Kernel::default(), child.id()).is_some() {
            std::thread::yield_now();
        }
        child.wait().unwrap();
    }

    #[test]
    fn a_name_with_spaces_and_parentheses_does_not_shift_the_fields() {
        let text = "4711 (a) R 9 (b) S 12 4711 4711 0 -1 4194560 100 5 7 3 150 60 20 10 20 0 1 0 165387 3133440 383";
        let stat = Stat::parse(text).unwrap();
        assert_eq!(stat.name, "a) R 9 (b");
        assert!(!stat.of_kernel);
        assert!(Stat::parse("2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 9 0 0 20 0 1 0 4 0 0").unwrap().of_kernel);
        assert_eq!((stat.parent, stat.major_faults, stat.reaped_major_faults), (12, 7, 3));
        assert_eq!((stat.user_ticks, stat.system_ticks), (150, 60));
        assert_eq!((stat.reaped_user_ticks, stat.reaped_system_ticks, stat.started), (20, 10, 165_387));
        assert!(!stat.ended && stat.low_priority().is_none());
        assert!(!stat.waits_for_disk && Stat::parse(&text.replace(") S", ") D")).unwrap().waits_for_disk);
        let low = |nice, policy| Stat { nice: Some(nice), policy: Some(policy), ..stat.clone() }.low_priority();
        let words = [low(5, 0), low(0, 5), low(-10, 0)];
        assert_eq!(words.each_ref().map(Option::as_deref), [Some("nice 5"), Some("SCHED_IDLE"), None]);
    }

    #[test]
    fn a_zombie_counts_as_ended() {
        let mut child = std::process::Command::new("sleep").arg("30").spawn().unwrap();
        let kernel = Kernel::default();
        let ended = || Stat::read(&kernel, child.id()).unwrap().ended;
        assert!(!ended() && !Stat::read(&kernel, std::process::id()).unwrap().ended);
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
        while !ended() {
            std::thread::yield_now();
        }
        child.wait().unwrap();
    }

    #[test]
    fn both_ways_to_list_descendants_find_the_same_tree() {
        let mut command = std::process::Command::new("sh");
        let mut child =
            command.args(["-c", "sleep 30 & echo $!; wait"]).stdout(std::process::Stdio::piped()).spawn().unwrap();
        let mut grandchild = String::new();
        io::BufRead::read_line(&mut io::BufReader::new(child.stdout.take().unwrap()), &mut grandchild).unwrap();
        let grandchild: u32 = grandchild.trim().parse().unwrap();
        let kernel = Kernel::default();
        let me = std::process::id();
        for tree in [descendants(&kernel, me), scanned_descendants(&kernel, me)] {
            // This one has several threads, its child but one.
            assert!(tree[0] == me && tree.contains(&child.id()) && tree.contains(&grandchild), "{tree:?}");
        }
        let grandchild = rustix::process::Pid::from_raw(grandchild.cast_signed()).unwrap();
        rustix::process::kill_process(grandchild, rustix::process::Signal::KILL).unwrap();
        child.wait().unwrap();
    }

    #[test]
    fn reads_of_one_thread_are_not_those_of_its_process() {
        let (kernel, me) = (Kernel::default(), std::process::id());
        let read = |thread: u32| thread_storage_bytes(&kernel, thread).unwrap()[1];
        let file = tempfile::NamedTempFile::new_in("/var/tmp").unwrap();
        let path = file.path().to_owned();
        let (of_other, other) = std::thread::spawn(move || {
            let thread = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
            fs::write(path, vec![1; 1 << 20]).unwrap();
            (thread_storage_bytes(&Kernel::default(), thread).unwrap()[1], thread)
        })
        .join()
        .unwrap();
        let own = rustix::thread::gettid().as_raw_nonzero().get().unsigned_abs();
        assert_eq!(of_thread(&kernel, own), Some(me));
        assert!(of_other >= 1 << 20 && read(own) < 1 << 20 && other != own);
        assert!(storage_bytes(&kernel, me).unwrap()[1] >= of_other);
    }

    #[test]
    fn a_process_is_known_by_name_parent_and_cpu() {
        let (kernel, me) = (Kernel::default(), std::process::id());
        let stat = Stat::read(&kernel, me).unwrap();
        assert_eq!(name(&kernel, me), Some(stat.name));
        assert!(all(&kernel).contains(&me) && all(&kernel).contains(&stat.parent));
        assert!(cpu(&kernel, me).is_some() && threads(&kernel, me).unwrap().contains(&me));
        assert!(Stat::read(&kernel, u32::MAX).is_err() && name(&kernel, u32::MAX).is_none());
    }

    #[test]
    fn no_text_makes_the_parser_panic() {
        any_text("(\\)|\\(|[0-9]+ |-|: |\\PC|\n){0,60}", Stat::parse);
    }
}
