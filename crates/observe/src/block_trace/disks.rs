//! Selects the requests of the data: the disks at the end of its chains, and the timed share.

use std::collections::BTreeSet;
use std::path::PathBuf;

use mindful_host::Kernel;
use mindful_host::device::{Chain, DeviceNumber, backing_file, locate, number};
use mindful_host::kernel_file::value;

/// Lowest bit of a sector's number that sampling uses: 8 KiB, so that neighbouring blocks fall apart.
const LOWEST_BIT: u32 = 4;
const MINOR_BITS: u32 = 20;

/// A disk, or the parts of it that hold data.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Disk {
    device: DeviceNumber,
    /// First sector and the one after the last, of each partition; empty for all of the disk.
    parts: BTreeSet<(u64, u64)>,
}

/// The disks at the end of the chains below the data. Requests are timed there: upper layers (dm, md, partitions) pass
/// on data that is not a request yet.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Disks {
    data: Vec<Disk>,
    /// Disks of the log. Their flushes are timed: a flush concerns the whole disk.
    pub(super) log: Vec<DeviceNumber>,
}

impl Disks {
    /// Finds the disks of the dataset at `data` and of the log at `log`; empty if none of the dataset is visible.
    pub(super) fn find(kernel: &Kernel, data: &[PathBuf], log: &[PathBuf]) -> Self {
        let disks = |paths: &[PathBuf]| {
            let mut disks = Self::default();
            for chain in paths.iter().filter_map(|path| locate(kernel, path).chain.ok()) {
                disks.add(kernel, &chain);
            }
            disks.data
        };
        Self { data: disks(data), log: disks(log).iter().map(|disk| disk.device).collect() }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    fn add(&mut self, kernel: &Kernel, chain: &Chain) {
        // A loop device has requests of its own; the disk below its file also serves others.
        let is_loop = |level: &Vec<String>| level.iter().any(|name| backing_file(kernel, name).is_some());
        let levels = chain.levels.iter().position(is_loop).map_or(&*chain.levels, |at| &chain.levels[..=at]);
        let [above @ .., last] = levels else { return };
        for name in last {
            let Some(device) = number(kernel, name) else { continue };
            let parts: BTreeSet<_> = above.iter().flatten().filter_map(|part| extent(kernel, name, part)).collect();
            match self.data.iter_mut().find(|disk| disk.device == device) {
                // All of a disk holds any part of it.
                Some(known) if known.parts.is_empty() || parts.is_empty() => known.parts.clear(),
                Some(known) => known.parts.extend(parts),
                None => self.data.push(Disk { device, parts }),
            }
        }
    }

    /// The filter of events that keeps one of `one_of` requests to these disks; `one_of` is a power of two. Sectors
    /// decide, so both events of a request share their fate.
    pub(super) fn filter(&self, one_of: u64) -> String {
        let disks: Vec<_> = self.data.iter().map(Disk::filter).collect();
        let disks = format!("({})", disks.join(" || "));
        let data = match one_of {
            0 | 1 => disks,
            _ => format!("{disks} && !(sector & {})", (one_of - 1) << LOWEST_BIT),
        };
        let flushes: Vec<_> = self.log.iter().map(|disk| is_on(*disk)).collect();
        if flushes.is_empty() {
            return data;
        }
        format!("({data}) || (({}) && nr_sector == 0)", flushes.join(" || "))
    }
}

impl Disk {
    fn filter(&self) -> String {
        if self.parts.is_empty() {
            return is_on(self.device);
        }
        let parts = self.parts.iter().map(|(first, end)| format!("(sector >= {first} && sector < {end})"));
        format!("({} && ({}))", is_on(self.device), parts.collect::<Vec<_>>().join(" || "))
    }
}

/// The filter of events at a device, which the kernel numbers by its `dev_t`.
pub(super) fn is_on((major, minor): DeviceNumber) -> String {
    format!("dev == {}", u64::from(major) << MINOR_BITS | u64::from(minor))
}

/// Start and length of the partition `part` on `disk`, sectors of 512 bytes; `None` if it is not on that disk.
fn extent(kernel: &Kernel, disk: &str, part: &str) -> Option<(u64, u64)> {
    let folder = std::fs::canonicalize(kernel.sys.join("class/block").join(part)).ok()?;
    let of_disk = folder.parent().and_then(|above| above.file_name()).is_some_and(|name| name == disk);
    let read = |name: &str| value(folder.join(name))?.parse::<u64>().ok();
    let (_, first, length) = (of_disk.then_some(()).and(read("partition"))?, read("start")?, read("size")?);
    Some((first, first + length))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use mindful_conformance::write_files;

    use super::*;
    use crate::data_devices::tests::chain;

    /// A sysfs with a disk of two partitions and one without.
    fn kernel(root: &std::path::Path) -> Kernel {
        let (sda1, sda2) = (["8:1", "2048", "1000"], ["8:2", "4096", "500"]);
        let sys = root.join("sys");
        let devices = [("sda", &["8:0"][..]), ("sda/sda1", &sda1), ("sda/sda2", &sda2), ("sdb", &["8:16"])];
        fs::create_dir_all(sys.join("class/block")).unwrap();
        for (path, values) in devices.into_iter().chain([("dm-0", &["253:0"][..])]) {
            let folder = sys.join("devices").join(path);
            ["dev", "start", "size"].into_iter().zip(values).for_each(|file| write_files(&folder, &[(file.0, file.1)]));
            if values.len() > 1 {
                write_files(&folder, &[("partition", "1\n")]);
            }
            symlink(&folder, sys.join("class/block").join(folder.file_name().unwrap())).unwrap();
        }
        Kernel { proc: PathBuf::from("/proc"), sys }
    }

    fn filter(chains: &[&[&[&str]]], one_of: u64) -> String {
        let root = tempfile::tempdir().unwrap();
        let kernel = kernel(root.path());
        let mut disks = Disks::default();
        for levels in chains {
            disks.add(&kernel, &chain(levels));
        }
        disks.filter(one_of)
    }

    #[test]
    fn a_disk_is_named_by_number_and_requests_chosen_by_sector() {
        assert_eq!(filter(&[&[&["sdb"]]], 1), "(dev == 8388624)");
        assert_eq!(filter(&[&[&["sdb"]]], 64), "(dev == 8388624) && !(sector & 1008)");
    }

    #[test]
    fn flushes_of_the_disk_of_the_log_are_timed_whatever_holds_data() {
        let disks = Disks { data: vec![Disk { device: (0, 8), parts: [(64, 128)].into() }], log: vec![(254, 16)] };
        assert!(disks.filter(1).ends_with(" || ((dev == 266338320) && nr_sector == 0)"), "{}", disks.filter(1));
    }

    #[test]
    fn of_a_partitioned_disk_only_data_partitions_are_timed() {
        let volume: &[&[&str]] = &[&["dm-0"], &["sda1", "sdb"], &["sda", "sdb"]];
        let one = "(dev == 8388608 && ((sector >= 2048 && sector < 3048)))";
        assert_eq!(filter(&[volume], 1), format!("({one} || dev == 8388624)"));
        let both = filter(&[volume, &[&["sda2"], &["sda"]]], 1);
        assert!(both.contains("(sector >= 2048 && sector < 3048) || (sector >= 4096 && sector < 4596)"), "{both}");
        assert_eq!(filter(&[&[&["sda1"], &["sda"]], &[&["sda"]]], 1), "(dev == 8388608)");
    }
}
