//! Kernel, operating system and machine; memory, swap, huge pages, and how the kernel writes back.

use std::fmt::Display;
use std::path::Path;

use mindful_core::contract::fact::Fact;
use mindful_core::record::run::Facts;
use mindful_host::kernel_file::value;
use mindful_host::memory::Meminfo;
use mindful_host::{Kernel, cpu};

pub(crate) fn facts(kernel: &Kernel, facts: &mut Facts) {
    let dmi = |name: &str| value(kernel.sys.join("class/dmi/id").join(name));
    put(facts, Fact::HostName, value(kernel.proc.join("sys/kernel/hostname")));
    put(facts, Fact::KernelRelease, value(kernel.proc.join("sys/kernel/osrelease")));
    put(facts, "kernel.version", value(kernel.proc.join("sys/kernel/version")));
    put(facts, Fact::SystemName, value("/etc/os-release").and_then(|text| os_name(&text)));
    put(facts, Fact::MachineVendor, dmi("sys_vendor"));
    put(facts, Fact::MachineProduct, dmi("product_name"));
    put(facts, Fact::Virtualization, hypervisor(kernel));
    put(facts, "container", container());
    put(facts, "clock.source", cpu::clock_source(kernel));
}

/// `PRETTY_NAME` of os-release, without its quotes.
fn os_name(text: &str) -> Option<String> {
    let name = text.lines().find_map(|line| line.strip_prefix("PRETTY_NAME="))?;
    let name = name.trim().trim_matches(['"', '\'']);
    (!name.is_empty()).then(|| name.to_owned())
}

/// The hypervisor of this host; `None` on bare metal, or if unknown.
pub(crate) fn hypervisor(kernel: &Kernel) -> Option<String> {
    if let Some(kind) = value(kernel.sys.join("hypervisor/type")) {
        return Some(kind);
    }
    let clocks = value(kernel.sys.join("devices/system/clocksource/clocksource0/available_clocksource"));
    let clocks = clocks.unwrap_or_default();
    for (clock, name) in [("kvm-clock", "kvm"), ("hyperv", "hyper-v"), ("xen", "xen")] {
        if clocks.contains(clock) {
            return Some(name.to_owned());
        }
    }
    let flagged = value(kernel.proc.join("cpuinfo")).is_some_and(|text| has_hypervisor_flag(&text));
    flagged.then(|| "a hypervisor".to_owned())
}

fn has_hypervisor_flag(cpuinfo: &str) -> bool {
    let flags = cpuinfo.lines().find(|line| line.starts_with("flags"));
    flags.is_some_and(|flags| flags.split_ascii_whitespace().any(|flag| flag == "hypervisor"))
}

fn container() -> Option<&'static str> {
    [("/.dockerenv", "docker"), ("/run/.containerenv", "podman"), ("/var/run/secrets/kubernetes.io", "kubernetes")]
        .into_iter()
        .find_map(|(mark, name)| Path::new(mark).exists().then_some(name))
}

pub(crate) fn put(facts: &mut Facts, name: impl Into<String>, value: Option<impl Display>) {
    if let Some(value) = value {
        facts.insert(name.into(), value.to_string());
    }
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) meminfo: Meminfo,
    /// Transparent huge pages: `always`, `madvise`, `never`.
    pub(crate) thp: Option<String>,
    pub(crate) settings: Facts,
}

const VM_SETTINGS: [&str; 7] = [
    "swappiness",
    "dirty_ratio",
    "dirty_background_ratio",
    "dirty_bytes",
    "dirty_background_bytes",
    "zone_reclaim_mode",
    "overcommit_memory",
];

impl Memory {
    pub(crate) fn read(kernel: &Kernel) -> Self {
        let thp = kernel.sys.join("kernel/mm/transparent_hugepage");
        let enabled = value(thp.join("enabled")).and_then(|text| chosen(&text));
        let mut settings = Facts::new();
        put(&mut settings, "memory.thp", enabled.as_ref());
        put(&mut settings, "memory.thp_defrag", value(thp.join("defrag")).and_then(|text| chosen(&text)));
        put(&mut settings, "numa.balancing", value(kernel.proc.join("sys/kernel/numa_balancing")));
        for name in VM_SETTINGS {
            put(&mut settings, format!("vm.{name}"), value(kernel.proc.join("sys/vm").join(name)));
        }
        Self { meminfo: Meminfo::read(kernel), thp: enabled, settings }
    }

    pub(crate) fn facts(self, facts: &mut Facts) {
        put(facts, Fact::MemoryBytes, self.meminfo.total_bytes);
        put(facts, "memory.available_bytes", self.meminfo.available_bytes);
        put(facts, "memory.swap_bytes", self.meminfo.swap_bytes);
        put(facts, "memory.swap_used_bytes", self.meminfo.swap_used_bytes);
        put(facts, "memory.huge_pages", self.meminfo.huge_pages);
        put(facts, "memory.huge_page_bytes", self.meminfo.huge_page_bytes);
        facts.extend(self.settings);
    }
}

/// The choice the kernel shows in brackets: `always [madvise] never`.
pub(crate) fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    rest.split_once(']').map(|(choice, _)| choice.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_the_system_is_read_with_and_without_quotes() {
        assert_eq!(os_name("ID=debian\nPRETTY_NAME=\"Debian GNU/Linux 12\"\n").as_deref(), Some("Debian GNU/Linux 12"));
        assert_eq!(os_name("PRETTY_NAME=Alpine\n").as_deref(), Some("Alpine"));
        assert_eq!(os_name("NAME=x\n"), None);
    }

    #[test]
    fn only_the_whole_flag_means_a_guest() {
        assert!(has_hypervisor_flag("flags\t\t: fpu hypervisor lahf_lm\n"));
        assert!(!has_hypervisor_flag("flags\t\t: fpu nohypervisor\nmodel name : hypervisor\n"));
    }

    #[test]
    fn the_choice_in_brackets_counts_and_its_absence_is_unknown() {
        assert_eq!(chosen("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(chosen("none"), None);
    }
}
