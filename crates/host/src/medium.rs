//! Whether files at a place are in memory.

use std::fmt;

use crate::kernel_file::{Kernel, value};

/// Why no block device is visible below a place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Unseen {
    /// Its files are in memory.
    Memory(String),
    Hidden(String),
}

impl fmt::Display for Unseen {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Memory(why) | Self::Hidden(why)) = self;
        f.write_str(why)
    }
}

/// RAM disks, by the name before their number.
const MEMORY_DISKS: [(&str, &str); 3] = [
    ("zram", "a RAM disk (zram)"),
    ("ram", "a RAM disk"),
    ("nullb", "a null device, which stores nothing or in memory"),
];
/// The kernel's pretended SCSI disk, by its model.
const PRETENDED: &str = "scsi_debug";

/// The kind of the block device `name`, if it keeps its blocks in memory.
pub(crate) fn memory_disk(kernel: &Kernel, name: &str) -> Option<&'static str> {
    let numbered = |prefix: &str| {
        let number = name.strip_prefix(prefix);
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let by_name = MEMORY_DISKS.iter().find(|(prefix, _)| numbered(prefix)).map(|(_, what)| *what);
    by_name.or_else(|| {
        let model = value(kernel.sys.join("class/block").join(name).join("device/model"))?;
        (model == PRETENDED).then_some("a pretended disk in memory (scsi_debug)")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disks_of_memory_are_known_by_name_or_model() {
        let sys = tempfile::tempdir().unwrap();
        let kernel = Kernel { proc: sys.path().to_owned(), sys: sys.path().to_owned() };
        let is_memory = |name| memory_disk(&kernel, name).is_some();
        assert!(is_memory("zram0") && is_memory("ram15") && is_memory("nullb0"));
        assert!(!["ram", "rambus0", "sda", "pmem0", "zram"].into_iter().any(is_memory));
        mindful_conformance::write_files(sys.path(), &[("class/block/sda/device/model", "scsi_debug      \n")]);
        assert!(is_memory("sda"));
    }
}
