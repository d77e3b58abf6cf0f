//! The devices to count: below all folders and files of the dataset, and of the log.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use mindful_host::Kernel;
use mindful_host::Unseen;
use mindful_host::device::{Chain, locate};

use crate::diskstats::{CountedDevices, counted_level, counts_flushes};

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DataDevices {
    pub(crate) counted: CountedDevices,
    /// Paths of the dataset on invisible devices, and why they are invisible; a reason is reported once.
    pub(crate) unseen: Vec<(PathBuf, Unseen)>,
}

impl DataDevices {
    /// Finds the devices of the dataset at `data` and of the log at `log`; `diskstats` is the present text of
    /// `/proc/diskstats`.
    pub(crate) fn find(kernel: &Kernel, data: &[PathBuf], log: &[PathBuf], diskstats: &str) -> Self {
        let mut unseen: Vec<(PathBuf, Unseen)> = Vec::new();
        let mut chains: Vec<(Chain, usize)> = Vec::new();
        for path in data {
            match counted(kernel, path, diskstats) {
                Ok(found) => chains.push(found),
                Err(reason) if unseen.iter().all(|(_, known)| *known != reason) => unseen.push((path.clone(), reason)),
                Err(_) => {}
            }
        }
        let read = choose(&chains);
        let of_log: Vec<_> = log.iter().filter_map(|path| counted(kernel, path, diskstats).ok()).collect();
        let logged = choose(&of_log);
        let flushing = |(chain, _): &(Chain, usize)| {
            let counts = |level: &Vec<String>| level.iter().all(|device| counts_flushes(kernel, device));
            Some((chain.clone(), chain.levels.iter().position(counts)?))
        };
        let flushed = of_log.iter().map(flushing).collect::<Option<Vec<_>>>().map_or_else(Vec::new, |of| choose(&of));
        chains.extend(of_log);
        let all: BTreeSet<_> = chains.iter().flat_map(|(chain, _)| chain.devices()).map(str::to_owned).collect();
        let counted = CountedDevices { read, written: choose(&chains), logged, flushed, all: Vec::from_iter(all) };
        Self { counted, unseen }
    }
}

/// The chain below `path`, and the level of it to count at.
fn counted(kernel: &Kernel, path: &Path, diskstats: &str) -> Result<(Chain, usize), Unseen> {
    let chain = locate(kernel, path).chain?;
    let none = || Unseen::Hidden(format!("no device of {} keeps counters", chain.text()));
    let level = counted_level(kernel, &chain, diskstats).ok_or_else(none)?;
    Ok((chain, level))
}

/// Each chain is counted at one level. A device below which another counted one lies is left out: the lower one
/// counts its requests too.
fn choose(chains: &[(Chain, usize)]) -> Vec<String> {
    let wanted: Vec<&String> = chains.iter().flat_map(|(chain, level)| &chain.levels[*level]).collect();
    let is_lowest = |(chain, level): &&(Chain, usize)| {
        !chain.levels[level + 1..].iter().flatten().any(|below| wanted.contains(&below))
    };
    let counted = chains.iter().filter(is_lowest).flat_map(|(chain, level)| &chain.levels[*level]).cloned();
    Vec::from_iter(counted.collect::<BTreeSet<_>>())
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    pub(crate) fn chain(levels: &[&[&str]]) -> Chain {
        let levels = levels.iter().map(|level| level.iter().map(|name| (*name).to_owned()).collect()).collect();
        Chain { levels, memory: None }
    }

    #[test]
    fn each_device_below_data_and_log_is_counted_once() {
        let lvm = || (chain(&[&["dm-0"], &["sda2"], &["sda"]]), 0);
        let (part, disk) = ((chain(&[&["sda1"], &["sda"]]), 0), (chain(&[&["sda"]]), 0));
        let apart = [(chain(&[&["nvme0n1"]]), 0), (chain(&[&["dm-1"], &["sdb", "sdc"]]), 1)];
        assert_eq!(choose(&[lvm(), lvm()]), ["dm-0"], "two folders of one device");
        assert_eq!(choose(&[part, disk]), ["sda"], "a partition, and its own disk");
        assert_eq!(choose(&apart), ["nvme0n1", "sdb", "sdc"], "two disks");
    }
}
