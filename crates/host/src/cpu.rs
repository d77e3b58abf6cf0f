//! CPU that mindful itself uses, where threads and processes may run, and the kernel's clock.

use std::io;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::Pid;
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};
use rustix::time::{ClockId, clock_gettime};

use crate::control_group::Groups;
use crate::kernel_file::{Kernel, value};
use crate::process;

pub fn of_thread() -> Duration {
    used(ClockId::ThreadCPUTime)
}

/// CPU that this process has used: all its threads, no children.
pub fn of_process() -> Duration {
    used(ClockId::ProcessCPUTime)
}

fn used(clock: ClockId) -> Duration {
    let used = clock_gettime(clock);
    Duration::new(used.tv_sec.unsigned_abs(), used.tv_nsec.unsigned_abs() as u32)
}

/// CPUs' worth of time that this process may use, by its affinity and its control groups; `None` if neither is
/// reported.
pub fn usable(kernel: &Kernel) -> Option<f64> {
    let by_affinity = sched_getaffinity(None).ok().map(|cpus| f64::from(cpus.count()));
    let by_group = Groups::of(kernel, std::process::id()).limits().cpus.map(|(cpus, _)| cpus);
    by_affinity.into_iter().chain(by_group).reduce(f64::min)
}

/// The clock source of the kernel, as it names it: `tsc`, `kvm-clock`, `hpet`.
pub fn clock_source(kernel: &Kernel) -> Option<String> {
    value(kernel.sys.join("devices/system/clocksource/clocksource0/current_clocksource"))
}

/// A list of CPUs or nodes as the kernel writes it: `0-3,8`. Nothing if it is malformed or absurdly long.
pub fn parse_list(text: &str) -> Vec<u32> {
    let mut all = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (Ok(first), Ok(last)) = (first.trim().parse::<u32>(), last.trim().parse::<u32>()) else {
            return Vec::new();
        };
        if first > last || last - first > 1 << 16 {
            return Vec::new();
        }
        all.extend(first..=last);
    }
    all
}

/// The lowest number of the CPUs that the calling thread may run on.
pub fn first() -> io::Result<usize> {
    let cpus = sched_getaffinity(None)?;
    (0..CpuSet::MAX_CPU).find(|cpu| cpus.is_set(*cpu)).ok_or_else(|| io::ErrorKind::NotFound.into())
}

pub fn pin_thread(cpus: &[usize]) -> io::Result<()> {
    Ok(sched_setaffinity(None, &set_of(cpus)?)?)
}

fn set_of(cpus: &[usize]) -> io::Result<CpuSet> {
    let mut set = CpuSet::new();
    for cpu in cpus {
        // A number beyond the set is not a CPU of any host.
        if *cpu >= CpuSet::MAX_CPU {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        set.set(*cpu);
    }
    Ok(set)
}

/// A process and its descendants, kept on some CPUs. On drop they get back the former CPUs of the process, including
/// descendants that were started meanwhile.
#[derive(Debug)]
pub struct Pinned {
    kernel: Kernel,
    root: u32,
    /// Start of the process, so that a later one with its number is not touched.
    started: u64,
    before: CpuSet,
}

impl Pinned {
    /// Keeps the process `root` and its descendants, with all their threads, on `cpus`. Only for processes that mindful
    /// started.
    pub fn new(kernel: &Kernel, root: u32, cpus: &[usize]) -> io::Result<Self> {
        let cpus = set_of(cpus)?;
        let started = process::Stat::read(kernel, root)?.started;
        let before = sched_getaffinity(pid(root))?;
        let pinned = Self { kernel: kernel.clone(), root, started, before };
        pinned.put_all_on(&cpus)?;
        Ok(pinned)
    }

    /// Parents come first: children started later inherit their CPUs.
    fn put_all_on(&self, cpus: &CpuSet) -> io::Result<()> {
        for process in process::descendants(&self.kernel, self.root) {
            // A process that ended meanwhile has no threads.
            for thread in process::threads(&self.kernel, process).unwrap_or_default() {
                let Some(thread) = pid(thread) else { continue };
                match sched_setaffinity(Some(thread), cpus) {
                    Ok(()) | Err(Errno::SRCH) => {}
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        if process::Stat::read(&self.kernel, self.root).is_ok_and(|stat| stat.started == self.started) {
            // No caller is left that could report it, and the process ends with mindful.
            let _ = self.put_all_on(&self.before);
        }
    }
}

fn pid(number: u32) -> Option<Pid> {
    i32::try_from(number).ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    #[test]
    fn lists_of_cpus_are_counted_whatever_their_form() {
        assert_eq!(parse_list("0-3,8"), [0, 1, 2, 3, 8]);
        assert_eq!(parse_list("5\n"), [5]);
        assert_eq!(parse_list("3-1"), [0_u32; 0]);
        assert_eq!(parse_list("0-4000000000"), [0_u32; 0]);
    }

    #[test]
    fn no_text_makes_the_parser_panic() {
        mindful_conformance::any_text("([0-9]+|-|,| |\\PC){0,60}", |text| parse_list(text).len());
    }

    #[test]
    fn cpu_of_a_thread_grows_with_work_and_is_of_its_process() {
        let whole = of_process();
        let before = of_thread();
        while of_thread().saturating_sub(before) < Duration::from_millis(5) {
            std::hint::black_box((0..1000_u64).sum::<u64>());
        }
        assert!(of_process().saturating_sub(whole) >= Duration::from_millis(5));
    }

    #[test]
    fn a_tree_with_new_processes_gets_its_cpus_back() {
        // The shell waits for a line, then starts a child.
        let script = "read -r _; sleep 30 & echo $!; wait";
        let mut shell = Command::new("sh");
        let mut shell = shell.args(["-c", script]).stdin(std::process::Stdio::piped());
        shell = shell.stdout(std::process::Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let before = sched_getaffinity(pid(shell.id())).unwrap();
        let pinned = Pinned::new(&Kernel::default(), shell.id(), &[first().unwrap()]).unwrap();
        assert_eq!(sched_getaffinity(pid(shell.id())).unwrap().count(), 1);
        drop(shell.stdin.take());
        let mut child = String::new();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(shell.stdout.take().unwrap()), &mut child).unwrap();
        let child: u32 = child.trim().parse().unwrap();
        assert_eq!(sched_getaffinity(pid(child)).unwrap().count(), 1, "a child inherits");
        drop(pinned);
        for process in [shell.id(), child] {
            assert_eq!(sched_getaffinity(pid(process)).unwrap(), before);
        }
        rustix::process::kill_process(pid(child).unwrap(), rustix::process::Signal::KILL).unwrap();
        shell.kill().unwrap();
        shell.wait().unwrap();
    }

    #[test]
    fn a_cpu_that_no_host_has_is_refused() {
        assert!(pin_thread(&[CpuSet::MAX_CPU]).is_err() && pin_thread(&[]).is_err());
    }
}
