//! Memory of the host, and the usable part of it.

use crate::control_group::Groups;
use crate::kernel_file::{Kernel, named_values, value};

/// The figures of `/proc/meminfo`; `None` if not reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Meminfo {
    pub total_bytes: Option<u64>,
    /// Memory available without swapping, bytes.
    pub available_bytes: Option<u64>,
    pub swap_bytes: Option<u64>,
    pub swap_used_bytes: Option<u64>,
    pub huge_pages: Option<u64>,
    pub huge_page_bytes: Option<u64>,
}

impl Meminfo {
    pub fn read(kernel: &Kernel) -> Self {
        Self::parse(&value(kernel.proc.join("meminfo")).unwrap_or_default())
    }

    fn parse(text: &str) -> Self {
        let values = named_values(text);
        let bytes = |name: &str| values.get(name).and_then(|kib| kib.checked_mul(1024));
        let swap_bytes = bytes("SwapTotal");
        Self {
            total_bytes: bytes("MemTotal"),
            available_bytes: bytes("MemAvailable"),
            swap_bytes,
            swap_used_bytes: swap_bytes.zip(bytes("SwapFree")).map(|(total, free)| total.saturating_sub(free)),
            huge_pages: values.get("HugePages_Total").copied(),
            huge_page_bytes: bytes("Hugepagesize"),
        }
    }
}

/// Memory that this process and its children may use, bytes: the host's, or the tightest limit of its control group and
/// of all above. `None` if the host does not report it.
pub fn usable_bytes(kernel: &Kernel) -> Option<u64> {
    let total = Meminfo::read(kernel).total_bytes?;
    let limit = Groups::of(kernel, std::process::id()).limits().memory;
    Some(limit.map_or(total, |(limit, _)| limit.min(total)))
}

#[cfg(test)]
mod tests {
    use mindful_conformance::write_files;

    use super::*;

    #[test]
    fn swap_in_use_is_total_minus_free_or_unknown() {
        let memory = Meminfo::parse("MemTotal: 10 kB\nSwapTotal: 8 kB\nSwapFree: 5 kB\nHugePages_Total: 3\n");
        assert_eq!((memory.total_bytes, memory.swap_used_bytes, memory.huge_pages), (Some(10240), Some(3072), Some(3)));
        assert_eq!(Meminfo::parse("SwapTotal: 8 kB\n").swap_used_bytes, None);
        assert_eq!(Meminfo::parse(""), Meminfo::default());
    }

    /// A host of 1 GiB; the group `/db/pg` has no limit and `/db` has `limit`.
    fn usable(limit: &str) -> Option<u64> {
        let root = tempfile::tempdir().unwrap();
        let mounts = format!("1 0 0:9 / {}/cg rw - cgroup2 cgroup2 rw\n", root.path().display());
        let files = [
            (&*format!("proc/{}/cgroup", std::process::id()), "0::/db/pg\n"),
            ("proc/self/mountinfo", &mounts),
            ("proc/meminfo", "MemTotal: 1048576 kB\n"),
            ("cg/db/memory.max", limit),
            ("cg/db/pg/memory.max", "max\n"),
        ];
        write_files(root.path(), &files);
        usable_bytes(&Kernel { proc: root.path().join("proc"), ..Kernel::default() })
    }

    #[test]
    fn a_limit_of_a_group_above_bounds_the_memory() {
        assert_eq!(usable("536870912\n"), Some(512 << 20));
        assert_eq!(usable("max\n"), Some(1 << 30));
        assert_eq!(usable("2147483648\n"), Some(1 << 30), "a limit above the host's memory does not count");
    }
}
