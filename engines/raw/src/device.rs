//! Whether a block device is free to be written: not mounted, not swapped on, not partitioned, not held by another
//! program.

use std::fs;
use std::os::fd::OwnedFd;
use std::path::Path;

use mindful_core::{Error, Result};
use mindful_host::{Kernel, device, mounts};
use rustix::fs::{major, minor};

/// Refuses the device `number` at `path` when anything uses it or it carries a partition table.
pub(crate) fn check_unused(path: &Path, number: u64, fd: &OwnedFd) -> Result<()> {
    let refuse = |what: &str, next: &str| {
        Err(Error::target(format!("{} {what} and is never written", path.display()), next.to_owned()))
    };
    if let Some(point) = mount_point(number) {
        return refuse(&format!("is mounted on {point}"), "unmount it first, or read only with --update-pct 0");
    }
    let Some(sys) = device::folder(&Kernel::default(), (major(number), minor(number))) else {
        return refuse(
            "is not in sysfs, so whether it is used is unknown,",
            "show it: in a container mount /sys whole",
        );
    };
    if has_child(&sys, "partition") || holds_partition_table(fd) {
        return refuse("is partitioned", "name a free partition, or remove the partition table with wipefs");
    }
    if fs::read_dir(sys.join("holders")).is_ok_and(|mut holders| holders.next().is_some()) {
        return refuse("is part of another device", "take it out of that device first");
    }
    Ok(())
}

/// The mount point of the device, by the kernel's own table.
fn mount_point(number: u64) -> Option<String> {
    let mounted =
        mounts::read(&Kernel::default()).into_iter().find(|mount| mount.device == (major(number), minor(number)));
    mounted.map(|mount| mount.point.display().to_string())
}

/// Whether a subfolder of `sys` holds the file `name`, as each partition of a disk does.
fn has_child(sys: &Path, name: &str) -> bool {
    fs::read_dir(sys).is_ok_and(|entries| entries.flatten().any(|entry| entry.path().join(name).is_file()))
}

/// Whether it begins as a disk with a partition table does: a boot signature, or a GPT header in the second sector.
fn holds_partition_table(fd: &OwnedFd) -> bool {
    let mut start = [0; 8_192];
    let read = rustix::io::pread(fd, &mut start, 0).unwrap_or(0);
    let start = &start[..read];
    let gpt = |sector: usize| start.get(sector..sector + 8) == Some(b"EFI PART");
    start.get(510..512) == Some(&[0x55, 0xaa]) || gpt(512) || gpt(4_096)
}
