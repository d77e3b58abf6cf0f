//! Memory, swap, huge pages, and how the kernel writes back.

use mindful_core::contract::fact::Fact;
use mindful_core::record::run::Facts;
use mindful_host::Kernel;
use mindful_host::kernel_file::value;
use mindful_host::memory::Meminfo;

use super::system::put;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Memory {
    pub(crate) meminfo: Meminfo,
    /// Transparent huge pages: `always`, `madvise`, `never`.
    pub(crate) thp: Option<String>,
    /// Settings of the kernel.
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
    fn the_choice_in_brackets_counts_and_its_absence_is_unknown() {
        assert_eq!(chosen("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(chosen("none"), None);
    }
}
