//! Properties of a host that must not change while figures are measured: the control groups of the server and of
//! mindful with their limits and weights, CPUs, mounts, queues of devices, and settings of the kernel.

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

use mindful_core::Result;
use mindful_core::contract::description::HostView;
use mindful_core::contract::fact::Kept;
use mindful_core::contract::watch::{Circumstance, Decides, Watch};
use mindful_core::record::run::Facts;
use mindful_host::Kernel;
use mindful_host::control_group::Groups;
use mindful_host::kernel_file::value;
use mindful_host::process::{self, Stat};

use crate::environment::storage::{self, Storage};
use crate::environment::system::{Memory, put};
use crate::host::server_pid;

/// Number of readings after which the processes of the server are listed again: new ones are in its groups.
const LISTED_EVERY: u32 = 5;

/// Files of `/sys/devices/system/cpu` that decide how fast the CPUs are.
const CPU_FILES: [&str; 6] = [
    "online",
    "smt/control",
    "intel_pstate/no_turbo",
    "cpufreq/boost",
    "cpu0/cpufreq/scaling_governor",
    "cpu0/cpufreq/scaling_max_freq",
];

/// The watches on the host of a system under test: for a remote one, only mindful's own control groups.
pub fn host_watches(host: &HostView) -> Vec<Box<dyn Watch>> {
    let kernel = Kernel::default();
    let server = server_pid(host).filter(|_| host.local);
    vec![Box::new(HostWatch { kernel, host: host.clone(), server, processes: Vec::new(), readings: 0 })]
}

struct HostWatch {
    kernel: Kernel,
    host: HostView,
    server: Option<u32>,
    /// The server's processes, as they were listed last.
    processes: Vec<u32>,
    readings: u32,
}

impl HostWatch {
    fn list_processes(&mut self) {
        let own = std::process::id();
        self.processes = match self.server {
            Some(pid) if pid != own && self.readings.is_multiple_of(LISTED_EVERY) => {
                process::descendants(&self.kernel, pid)
            }
            Some(pid) if pid == own => vec![own],
            _ => std::mem::take(&mut self.processes),
        };
        self.readings += 1;
    }
}

impl Watch for HostWatch {
    fn name(&self) -> &'static str {
        "host"
    }

    fn read(&mut self) -> Result<Vec<Circumstance>> {
        self.list_processes();
        let mut found = Vec::new();
        if self.server.is_some() {
            found.extend(confinement(&self.kernel, &self.processes, "the server"));
        }
        let own = std::process::id();
        if self.server != Some(own) {
            found.extend(confinement(&self.kernel, &[own], "mindful"));
        }
        if self.host.local {
            let mut facts = Memory::read(&self.kernel).settings;
            for (kept, paths) in [(Kept::Dataset, &self.host.data_paths), (Kept::Log, &self.host.log_paths)] {
                let places = Storage::of_paths(&self.kernel, paths);
                storage::facts(kept, &places, &mut facts);
                for device in places.iter().flat_map(|place| &place.devices) {
                    queue_settings(&self.kernel, &device.name, &mut facts);
                }
            }
            facts.retain(|name, _| !name.ends_with(".size_bytes") && !name.ends_with(".free_bytes"));
            let cpus = self.kernel.sys.join("devices/system/cpu");
            facts.extend(CPU_FILES.iter().filter_map(|file| Some(((*file).to_owned(), value(cpus.join(file))?))));
            found.extend(facts.into_iter().map(|(name, value)| Circumstance::new(name, Some(value), Decides::Work)));
        }
        Ok(found)
    }
}

/// The control groups of those of `processes` that run the program of the first, the limits and weights of these groups,
/// and the CPUs and priorities of the processes.
fn confinement(kernel: &Kernel, processes: &[u32], whose: &str) -> Vec<Circumstance> {
    let always = ["CPU limit", "memory limit", "I/O limit", "CPUs", "low priority"];
    let mut found: Vec<(String, BTreeSet<String>)> = always.map(|what| (what.to_owned(), BTreeSet::new())).into();
    let mut add = |what: &str, value: String| match found.iter_mut().find(|(known, _)| known == what) {
        Some((_, values)) => drop(values.insert(value)),
        None => found.push((what.to_owned(), [value].into())),
    };
    let (mut seen, mut is_low) = (BTreeSet::new(), false);
    let first_program = processes.first().and_then(|first| program(kernel, *first));
    // A command that the server starts, such as one that archives its log, may have a priority of its own.
    for pid in processes.iter().filter(|pid| program(kernel, **pid) == first_program) {
        let folder = process::folder(kernel, *pid);
        let Ok(text) = fs::read_to_string(folder.join("cgroup")) else { continue };
        let status = fs::read_to_string(folder.join("status")).unwrap_or_default();
        // The kernel moves a process that ends to the root group, after it has released its memory.
        if !folder.exists() || !status.is_empty() && !status.contains("\nVmSize:") {
            continue;
        }
        if let Some(cpus) = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")) {
            add("CPUs", cpus.trim().to_owned());
        }
        // mindful raises the priority of the server process that reads counters: only lower ones count.
        if let Some(low) = Stat::read(kernel, *pid).ok().and_then(|stat| stat.low_priority()) {
            is_low = true;
            add("low priority", low);
        }
        if seen.insert(text.clone()) {
            let own_groups = Groups::of(kernel, *pid);
            let limits = own_groups.limits();
            add("CPU limit", limits.cpus.map_or("none".to_owned(), |(cpus, _)| format!("{cpus} CPUs")));
            add("memory limit", limits.memory.map_or("none".to_owned(), |(bytes, _)| format!("{bytes} bytes")));
            add("I/O limit", limits.io.unwrap_or_else(|| "none".to_owned()));
            own_groups.weights().into_iter().for_each(|(file, value)| add(file, value));
            for (controllers, group) in text.lines().filter_map(|line| line.split_once(':')?.1.split_once(':')) {
                add(&format!("control group {controllers}"), group.to_owned());
            }
        }
    }
    if !is_low && !seen.is_empty() {
        add("low priority", "normal".to_owned());
    }
    let circumstance = |(what, values): (String, BTreeSet<String>)| {
        let value = Some(values.into_iter().collect::<Vec<_>>().join(" and ")).filter(|value| !value.is_empty());
        Circumstance::new(format!("{what} of {whose}"), value, Decides::Work)
    };
    found.into_iter().map(circumstance).collect()
}

/// The executable of a process, or its name if another user's executable is unreadable.
fn program(kernel: &Kernel, pid: u32) -> Option<PathBuf> {
    let executable = fs::read_link(process::folder(kernel, pid).join("exe")).ok();
    executable.or_else(|| process::name(kernel, pid).map(PathBuf::from))
}

/// All parameters of a device's queue, and the mode in which a loop device reads its file.
fn queue_settings(kernel: &Kernel, device: &str, facts: &mut Facts) {
    let folder = kernel.sys.join("class/block").join(device);
    let listed = fs::read_dir(folder.join("queue")).into_iter().flatten().flatten();
    let files = listed.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()));
    let files = files.map(|entry| format!("queue/{}", entry.file_name().display()));
    for name in files.chain(["ro", "loop/dio", "loop/backing_file"].map(str::to_owned)) {
        put(facts, format!("{device} {name}"), value(folder.join(&name)));
    }
}

#[cfg(test)]
mod tests {
    use mindful_conformance::{control_groups, write_files};

    use super::*;

    fn named(found: &[Circumstance], name: &str) -> Option<String> {
        found.iter().find(|one| one.name == name).and_then(|one| one.value.clone())
    }

    #[test]
    fn limits_and_weights_of_a_group_are_read_each_time() {
        let root = tempfile::tempdir().unwrap();
        let kernel = Kernel { proc: control_groups::version_1(root.path()), ..Kernel::default() };
        let of_42 = || confinement(&kernel, &[42], "the server");
        assert_eq!(named(&of_42(), "CPU limit of the server").as_deref(), Some("none"));
        fs::write(root.path().join("cpu/a/cpu.cfs_quota_us"), "50000\n").unwrap();
        assert_eq!(named(&of_42(), "CPU limit of the server").as_deref(), Some("0.5 CPUs"));
        assert!(named(&of_42(), "I/O limit of the server").unwrap().contains("254:0 900"));
        fs::write(root.path().join("cpu/cpu.shares"), "1024\n").unwrap();
        let shares = |own: &str| {
            fs::write(root.path().join("cpu/a/cpu.shares"), own).unwrap();
            named(&of_42(), "cpu.shares of the server")
        };
        assert_eq!([shares("1024\n"), shares("2\n")], ["1024 < 1024", "2 < 1024"].map(|text| Some(text.to_owned())));
        fs::write(root.path().join("blkio/b/blkio.throttle.read_iops_device"), "").unwrap();
        assert!(!named(&of_42(), "I/O limit of the server").unwrap().contains("254:0 900"));
    }

    #[test]
    fn a_process_that_ends_is_in_no_group() {
        let root = tempfile::tempdir().unwrap();
        let kernel = Kernel { proc: control_groups::version_1(root.path()), ..Kernel::default() };
        let cpu = || named(&confinement(&kernel, &[42, 43], "the server"), "control group cpu of the server");
        let before = cpu();
        let other = kernel.proc.join("43");
        write_files(&other, &[("cgroup", "1:cpu:/\n"), ("status", "Name:\tpostgres\nState:\tR (running)\n")]);
        assert!(before.is_some() && cpu() == before, "{before:?}");
        fs::write(other.join("status"), "Name:\tpostgres\nVmSize:\t4096 kB\n").unwrap();
        assert_ne!(cpu(), before);
    }

    #[test]
    fn a_command_that_the_server_starts_does_not_count() {
        let root = tempfile::tempdir().unwrap();
        let kernel = Kernel { proc: control_groups::version_1(root.path()), ..Kernel::default() };
        let cpu = || named(&confinement(&kernel, &[42, 43], "the server"), "control group cpu of the server");
        let is = |pid: &str, program: &str| fs::write(kernel.proc.join(pid).join("comm"), program).unwrap();
        is("42", "postgres");
        let before = cpu();
        write_files(&kernel.proc, &[("43/cgroup", "1:cpu:/\n")]);
        is("43", "gzip");
        assert!(before.is_some() && cpu() == before, "{before:?}");
        is("43", "postgres");
        assert_ne!(cpu(), before);
        for (pid, program) in [("42", "/usr/bin/postgres"), ("43", "/usr/bin/nice")] {
            std::os::unix::fs::symlink(program, kernel.proc.join(pid).join("exe")).unwrap();
        }
        assert_eq!(cpu(), before);
    }

    #[test]
    fn invisible_figures_are_unknown() {
        let root = tempfile::tempdir().unwrap();
        let kernel = Kernel { proc: root.path().join("proc"), ..Kernel::default() };
        let found = confinement(&kernel, &[42], "the server");
        assert!(found.iter().all(|one| one.value.is_none()), "{found:?}");
    }
}
