//! Writes of file system journals, from the kernel's event of each transaction (`jbd2:jbd2_run_stats`).
//!
//! `/proc/fs/jbd2` was rejected: it contains means since the mount, in whole blocks, too coarse for a window.

use std::fs;
use std::path::{Path, PathBuf};

use mindful_host::Kernel;
use mindful_host::device::{locate, number};

use super::disks::{DeviceNumber, is_on};

/// The event, below the folder of events.
pub(super) const EVENT: &str = "jbd2/jbd2_run_stats";
const BEGIN: &str = ": jbd2_run_stats: dev ";
const LOGGED: &str = " blocks_logged ";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Journal {
    device: DeviceNumber,
    block_bytes: u64,
}

/// The journals of the file systems that hold the log, each on the device of its file system.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Journals(Vec<Journal>);

impl Journals {
    /// Finds the journals of the log at `paths`; `None` unless the kernel reports the transactions of all of them.
    pub(super) fn find(kernel: &Kernel, paths: &[PathBuf]) -> Option<Self> {
        let mut all = paths.iter().map(|path| journal(kernel, path)).collect::<Option<Vec<_>>>()?;
        all.sort_by_key(|journal| journal.device);
        all.dedup();
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
    use std::process::Command;

    use mindful_conformance::{not_run, with_tracefs};

    use super::super::instance::Instance;
    use super::*;

    const LINE: &str = "     jbd2/loop5-8-812  [001] ..... 5021.000100: jbd2_run_stats: dev 7,5 tid 9 wait 0 \
                        request_delay 0 running 5 locked 0 flushing 0 logging 1 handle_count 7 blocks 4 blocks_logged 6";

    fn journals() -> Journals {
        Journals(vec![Journal { device: (7, 5), block_bytes: 4096 }])
    }

    #[test]
    fn a_transaction_counts_the_blocks_that_it_logged() {
        assert_eq!(journals().filter(), "dev == 7340037");
        assert_eq!(journals().logged_bytes(LINE), Some(6 * 4096));
        for other in [LINE.replace("7,5", "7,6"), LINE.replace("_logged 6", "_logged x"), LINE.replace("run_", "r_")] {
            assert_eq!(journals().logged_bytes(&other), None, "{other}");
        }
    }

    fn done(program: &str, args: &[&str]) -> Option<String> {
        let output = Command::new(program).args(args).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    }

    /// Two devices, the second with the journal of the first; detached when this is dropped.
    struct Devices {
        names: Vec<String>,
        folder: tempfile::TempDir,
    }

    impl Devices {
        fn mounted() -> Option<Self> {
            let mut all = Self { names: Vec::new(), folder: tempfile::tempdir().unwrap() };
            for name in ["data", "journal"] {
                let image = all.folder.path().join(name);
                fs::File::create(&image).and_then(|file| file.set_len(64 << 20)).unwrap();
                all.names.push(done("losetup", &["--find", "--show", image.to_str()?])?);
            }
            let [data, journal] = [&all.names[0], &all.names[1]];
            done("mkfs.ext4", &["-qF", "-b", "4096", "-O", "journal_dev", journal])?;
            done("mkfs.ext4", &["-qF", "-b", "4096", "-J", &format!("device={journal}"), data])?;
            fs::create_dir(all.place()).unwrap();
            done("mount", &[data, all.place().to_str()?])?;
            Some(all)
        }

        fn place(&self) -> PathBuf {
            self.folder.path().join("mounted")
        }

        /// Bytes that the device of the journal has written.
        fn journal_bytes(&self) -> u64 {
            let stat = fs::read_to_string(self.names[1].replace("/dev/", "/sys/block/") + "/stat").unwrap();
            stat.split_whitespace().nth(6).unwrap().parse::<u64>().unwrap() * 512
        }
    }

    impl Drop for Devices {
        fn drop(&mut self) {
            done("umount", &[&self.place().display().to_string()]);
            self.names.iter().for_each(|name| drop(done("losetup", &["--detach", name])));
        }
    }

    /// The device of the journal, which nothing else writes, counts them independently.
    #[test]
    fn transactions_are_the_bytes_that_the_journals_device_wrote() {
        if !with_tracefs() {
            return;
        }
        let kernel = Kernel::default();
        let Some(devices) = Devices::mounted() else { return not_run("it mounts loop devices, which takes root") };
        let place = devices.place();
        assert_eq!(
            Journals::find(&kernel, std::slice::from_ref(&place)),
            None,
            "a journal elsewhere is not its device's"
        );
        let device = number(&kernel, devices.names[0].trim_start_matches("/dev/")).unwrap();
        let journals = Journals(vec![Journal { device, block_bytes: 4096 }]);
        let instance = match Instance::open(&kernel, "dev == 0", Some(&journals)) {
            Ok(instance) => instance,
            Err(why) => return not_run(&why),
        };
        let before = devices.journal_bytes();
        for at in 0..200 {
            let file = fs::File::create(place.join(at.to_string())).unwrap();
            file.set_len(4096).and_then(|()| file.sync_all()).unwrap();
        }
        let written = devices.journal_bytes() - before;
        let (mut text, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
        while let Some(piece) = instance.read(&mut buffer).unwrap() {
            text.extend_from_slice(piece);
        }
        let text = String::from_utf8_lossy(&text);
        let logged: u64 = text.lines().filter_map(|line| journals.logged_bytes(line)).sum();
        assert!((logged as f64 / written as f64 - 1.0).abs() < 0.02, "{logged} logged, {written} written: {text}");
        drop(instance);
    }
}
