//! Which devices to count at, for all folders and files that hold the data.

use std::path::PathBuf;

use mindful_host::Kernel;
use mindful_host::device::{Chain, locate};

use crate::diskstats::counted_level;

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DataDevices {
    /// Those whose requests are counted.
    pub(crate) counted: Vec<String>,
    /// All others of their chains.
    pub(crate) others: Vec<String>,
    /// Paths whose device cannot be seen, and why; a reason is reported once.
    pub(crate) unseen: Vec<(PathBuf, String)>,
}

impl DataDevices {
    /// Finds them; `diskstats` is the present text of `/proc/diskstats`.
    pub(crate) fn find(kernel: &Kernel, paths: &[PathBuf], diskstats: &str) -> Self {
        let mut chains: Vec<(Chain, usize)> = Vec::new();
        let mut unseen: Vec<(PathBuf, String)> = Vec::new();
        for path in paths {
            let found = locate(kernel, path).chain.and_then(|chain| {
                let level = counted_level(kernel, &chain, diskstats);
                level
                    .map(|level| (chain.clone(), level))
                    .ok_or_else(|| format!("none of {} keeps counters", chain.text()))
            });
            match found {
                Ok(found) => chains.push(found),
                Err(reason) if unseen.iter().all(|(_, known)| *known != reason) => unseen.push((path.clone(), reason)),
                Err(_) => {}
            }
        }
        let (counted, others) = choose(&chains);
        Self { counted, others, unseen }
    }
}

/// Each chain is counted at one level. A device below which another counted one lies is left out: the lower one
/// counts its requests too.
fn choose(chains: &[(Chain, usize)]) -> (Vec<String>, Vec<String>) {
    let wanted: Vec<&String> = chains.iter().flat_map(|(chain, level)| &chain.levels[*level]).collect();
    let mut counted: Vec<String> = Vec::new();
    for (chain, level) in chains {
        let doubled = chain.levels[level + 1..].iter().flatten().any(|below| wanted.contains(&below));
        counted.extend(chain.levels[*level].iter().filter(|_| !doubled).cloned());
    }
    counted.sort();
    counted.dedup();
    let mut others: Vec<String> = chains.iter().flat_map(|(chain, _)| chain.devices()).map(str::to_owned).collect();
    others.sort();
    others.dedup();
    others.retain(|name| !counted.contains(name));
    (counted, others)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(levels: &[&[&str]]) -> Chain {
        Chain { levels: levels.iter().map(|level| level.iter().map(|name| (*name).to_owned()).collect()).collect() }
    }

    #[test]
    fn two_folders_of_one_device_count_it_once() {
        let lvm = chain(&[&["dm-0"], &["sda2"], &["sda"]]);
        let (counted, others) = choose(&[(lvm.clone(), 0), (lvm, 0)]);
        assert_eq!((counted, others), (vec!["dm-0".to_owned()], vec!["sda".to_owned(), "sda2".to_owned()]));
    }

    #[test]
    fn a_partition_is_not_counted_beside_its_own_disk() {
        let (counted, others) = choose(&[(chain(&[&["sda1"], &["sda"]]), 0), (chain(&[&["sda"]]), 0)]);
        assert_eq!((counted, others), (vec!["sda".to_owned()], vec!["sda1".to_owned()]));
    }

    #[test]
    fn data_and_log_on_two_disks_are_counted_together() {
        let (counted, _) = choose(&[(chain(&[&["nvme0n1"]]), 0), (chain(&[&["dm-1"], &["sdb", "sdc"]]), 1)]);
        assert_eq!(counted, ["nvme0n1", "sdb", "sdc"]);
    }

    #[test]
    fn a_reason_is_reported_once_however_many_paths_it_concerns() {
        let paths = [PathBuf::from("/dev/shm/data"), PathBuf::from("/dev/shm/log")];
        let found = DataDevices::find(&Kernel::default(), &paths, "");
        assert_eq!(found.counted, Vec::<String>::new());
        assert_eq!(found.unseen.len(), 1);
    }
}
