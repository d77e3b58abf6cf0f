//! Writes of file system journals, from the kernel's event of each transaction (`jbd2:jbd2_run_stats`).
//!
//! `/proc/fs/jbd2` was rejected: it contains means since the mount, in whole blocks, too coarse for a window.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use mindful_host::Kernel;
use mindful_host::device::{DeviceNumber, locate, number};

use super::disks::is_on;

/// The event, below the folder of events.
pub(super) const EVENT: &str = "jbd2/jbd2_run_stats";
const BEGIN: &str = ": jbd2_run_stats: dev ";
const LOGGED: &str = " blocks_logged ";

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Journal {
    device: DeviceNumber,
    block_bytes: u64,
}

/// The journals of the file systems that hold the log, each on the device of its file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Journals(BTreeSet<Journal>);

impl Journals {
    /// Finds the journals of the log at `paths`; `None` unless the kernel reports the transactions of all of them.
    pub(super) fn find(kernel: &Kernel, paths: &[PathBuf]) -> Option<Self> {
        let all = paths.iter().map(|path| journal(kernel, path)).collect::<Option<BTreeSet<_>>>()?;
        (!all.is_empty()).then_some(Self(all))
    }

    pub(super) fn filter(&self) -> String {
        self.0.iter().map(|journal| is_on(journal.device)).collect::<Vec<_>>().join(" || ")
    }

    /// Bytes that the transaction of `line` took in its journal; `None` for other lines.
    pub(super) fn logged_bytes(&self, line: &str) -> Option<u64> {
        let (_, event) = line.split_once(BEGIN)?;
        let (major, minor) = event.split(' ').next()?.split_once(',')?;
        let device = (major.parse().ok()?, minor.parse().ok()?);
        let journal = self.0.iter().find(|journal| journal.device == device)?;
        let blocks: u64 = event.split_once(LOGGED)?.1.split(' ').next()?.trim_end().parse().ok()?;
        blocks.checked_mul(journal.block_bytes)
    }
}

/// The journal of the file system with `path`. A journal inside its file system is named by its inode, `sda1-8`; one on
/// a separate device by that device, which commits do not name.
fn journal(kernel: &Kernel, path: &Path) -> Option<Journal> {
    let chain = locate(kernel, path).chain.ok()?;
    let [device] = chain.levels.first()?.as_slice() else { return None };
    let is_inside = |name: &str| name.strip_prefix(&**device).is_some_and(|rest| rest.starts_with('-'));
    let mut names = fs::read_dir(kernel.proc.join("fs/jbd2")).ok()?.flatten().map(|entry| entry.file_name());
    names.find(|name| name.to_str().is_some_and(is_inside))?;
    let block_bytes = rustix::fs::statvfs(path).ok()?.f_bsize;
    Some(Journal { device: number(kernel, device)?, block_bytes })
}

#[cfg(test)]
mod tests {
    use mindful_conformance::{LoopDevice, Mount, not_run, run_as_root, with_tracefs};

    use super::super::instance::Instance;
    use super::*;

    const LINE: &str = "     jbd2/loop5-8-812  [001] ..... 5021.000100: jbd2_run_stats: dev 7,5 tid 9 wait 0 \
                        request_delay 0 running 5 locked 0 flushing 0 logging 1 handle_count 7 blocks 4 blocks_logged 6";

    fn journals() -> Journals {
        Journals([Journal { device: (7, 5), block_bytes: 4096 }].into())
    }

    #[test]
    fn a_transaction_counts_the_blocks_that_it_logged() {
        assert_eq!(journals().filter(), "dev == 7340037");
        assert_eq!(journals().logged_bytes(LINE), Some(6 * 4096));
        for other in [LINE.replace("7,5", "7,6"), LINE.replace("_logged 6", "_logged x"), LINE.replace("run_", "r_")] {
            assert_eq!(journals().logged_bytes(&other), None, "{other}");
        }
    }

    /// A file system with its journal on the second of two devices.
    fn mounted() -> Option<([LoopDevice; 2], Mount)> {
        let [data, journal] = [LoopDevice::among_others(64)?, LoopDevice::among_others(64)?];
        let on_it = format!("device={}", journal.name());
        run_as_root("mkfs.ext4", &["-qF", "-b", "4096", "-O", "journal_dev", journal.name()])?;
        run_as_root("mkfs.ext4", &["-qF", "-b", "4096", "-J", &on_it, data.name()])?;
        let mount = Mount::new(&[data.name()])?;
        Some(([data, journal], mount))
    }

    /// The device of the journal, which nothing else writes, counts them independently.
    #[test]
    fn transactions_are_the_bytes_that_the_journals_device_wrote() {
        if !with_tracefs() {
            return;
        }
        let kernel = Kernel::default();
        let Some(([data, journal], mount)) = mounted() else { return };
        let place = mount.path();
        let of_place = Journals::find(&kernel, &[place.to_owned()]);
        assert_eq!(of_place, None, "a journal elsewhere is not its device's");
        let device = number(&kernel, data.name().trim_start_matches("/dev/")).unwrap();
        let journals = Journals([Journal { device, block_bytes: 4096 }].into());
        // Bytes that the device of the journal has written.
        let stat = journal.name().replace("/dev/", "/sys/block/") + "/stat";
        let journal_bytes = || {
            let stat = fs::read_to_string(&stat).unwrap();
            stat.split_whitespace().nth(6).unwrap().parse::<u64>().unwrap() * 512
        };
        let instance = match Instance::open(&kernel, "dev == 0", Some(&journals)) {
            Ok(instance) => instance,
            Err(why) => return not_run(&why),
        };
        let before = journal_bytes();
        for at in 0..200 {
            let file = fs::File::create(place.join(at.to_string())).unwrap();
            file.set_len(4096).and_then(|()| file.sync_all()).unwrap();
        }
        let written = journal_bytes() - before;
        let (mut text, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
        while let Some(piece) = instance.read(&mut buffer).unwrap() {
            text.extend_from_slice(piece);
        }
        let text = String::from_utf8_lossy(&text);
        let logged: u64 = text.lines().filter_map(|line| journals.logged_bytes(line)).sum();
        assert!((logged as f64 / written as f64 - 1.0).abs() < 0.02, "{logged} logged, {written} written: {text}");
    }
}
