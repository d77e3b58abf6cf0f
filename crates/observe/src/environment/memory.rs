//! Memory, swap, huge pages, and how the kernel writes back.

use mindful_core::run::Facts;

use super::put;
use crate::kernel::Kernel;
use crate::named_values;
use crate::proc_file::value;

/// Memory of the host.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) bytes: Option<u64>,
    pub(crate) available_bytes: Option<u64>,
    pub(crate) swap_bytes: Option<u64>,
    pub(crate) swap_used_bytes: Option<u64>,
    pub(crate) huge_pages: Option<u64>,
    pub(crate) huge_page_bytes: Option<u64>,
    /// Transparent huge pages: `always`, `madvise`, `never`.
    pub(crate) thp: Option<String>,
    pub(crate) thp_defrag: Option<String>,
    /// Settings of `/proc/sys/vm` by name.
    pub(crate) vm: Vec<(&'static str, String)>,
    pub(crate) numa_balancing: Option<String>,
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
        let meminfo = value(kernel.proc.join("meminfo")).unwrap_or_default();
        let thp = kernel.sys.join("kernel/mm/transparent_hugepage");
        let setting = |name: &'static str| Some((name, value(kernel.proc.join("sys/vm").join(name))?));
        Self {
            thp: value(thp.join("enabled")).and_then(|text| chosen(&text)),
            thp_defrag: value(thp.join("defrag")).and_then(|text| chosen(&text)),
            vm: VM_SETTINGS.into_iter().filter_map(setting).collect(),
            numa_balancing: value(kernel.proc.join("sys/kernel/numa_balancing")),
            ..Self::parse(&meminfo)
        }
    }

    fn parse(meminfo: &str) -> Self {
        let values = named_values::parse(meminfo);
        let bytes = |name: &str| values.get(name).and_then(|kib| kib.checked_mul(1024));
        let swap_bytes = bytes("SwapTotal");
        Self {
            bytes: bytes("MemTotal"),
            available_bytes: bytes("MemAvailable"),
            swap_bytes,
            swap_used_bytes: swap_bytes.zip(bytes("SwapFree")).map(|(total, free)| total.saturating_sub(free)),
            huge_pages: values.get("HugePages_Total").copied(),
            huge_page_bytes: bytes("Hugepagesize"),
            ..Self::default()
        }
    }

    pub(crate) fn facts(&self, facts: &mut Facts) {
        put(facts, "memory.bytes", self.bytes);
        put(facts, "memory.available_bytes", self.available_bytes);
        put(facts, "memory.swap_bytes", self.swap_bytes);
        put(facts, "memory.swap_used_bytes", self.swap_used_bytes);
        put(facts, "memory.huge_pages", self.huge_pages);
        put(facts, "memory.huge_page_bytes", self.huge_page_bytes);
        put(facts, "memory.thp", self.thp.as_ref());
        put(facts, "memory.thp_defrag", self.thp_defrag.as_ref());
        put(facts, "numa.balancing", self.numa_balancing.as_ref());
        for (name, setting) in &self.vm {
            put(facts, format!("vm.{name}"), Some(setting));
        }
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
    fn the_choice_in_brackets_counts_and_none_is_unknown() {
        assert_eq!(chosen("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(chosen("none"), None);
    }

    #[test]
    fn swap_in_use_is_what_is_not_free_and_unknown_without_both() {
        let memory = Memory::parse("MemTotal: 10 kB\nSwapTotal: 8 kB\nSwapFree: 5 kB\nHugePages_Total: 3\n");
        assert_eq!((memory.bytes, memory.swap_used_bytes, memory.huge_pages), (Some(10240), Some(3072), Some(3)));
        assert_eq!(Memory::parse("SwapTotal: 8 kB\n").swap_used_bytes, None);
    }
}
