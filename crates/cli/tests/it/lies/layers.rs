//! Devices that keep a cache below the file system, or are one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mindful_conformance::{not_run, own_mounts, place};

use crate::lies::neighbours::reader;
use crate::mindful::quiet::Quiet;
use crate::mindful::report::{Report, retried};
use crate::mindful::small_disk::folder_in_memory;
use crate::mindful::{Mindful, PAUSES, Words, private, unwrapped};

const IMAGE_BYTES: u64 = 512 << 20;
/// Without lazy tables: the kernel would write them during the run.
pub(super) const EXT4: &str = "mkfs.ext4 -qF -E lazy_itable_init=0,lazy_journal_init=0";

pub(super) fn run(program: &str, args: impl Words) -> Result<String, String> {
    let output = Command::new(program).args(args.words()).output().map_err(|error| format!("{program}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(format!("{program}: {}", text(&output.stderr))) }
}

/// A file system on a block device of the test's own, mounted until this is dropped. Its constructors return `None` after
/// a notice that this host has none.
pub(super) struct Mounted {
    device: String,
    pub(super) folder: PathBuf,
    remove: fn(&str),
}

impl Mounted {
    /// On a loop device in a folder of `mindful`; with `direct` it passes the page cache by.
    pub(super) fn on_loop(mindful: &Mindful, name: &str, direct: bool) -> Option<Self> {
        Self::over(&mindful.path(format!("{name}.image")), mindful.path(name), EXT4, direct)
    }

    /// On a loop device over the file `image`.
    pub(super) fn over(image: &Path, folder: PathBuf, make: &str, direct: bool) -> Option<Self> {
        let device = || {
            fs::File::create(image).and_then(|file| file.set_len(IMAGE_BYTES)).map_err(|error| error.to_string())?;
            let mode = if direct { "on" } else { "off" };
            run("losetup", format!("--direct-io={mode} --find --show {}", image.display()))
        };
        Self::new(device(), folder, make, |device| drop(run("losetup", ["--detach", device])))
    }

    /// A folder of another file system, handed on by a process.
    fn by_a_process(mindful: &Mindful) -> Option<Self> {
        let (below, folder) = (mindful.path("below"), mindful.path("above"));
        for folder in [&below, &folder] {
            fs::create_dir_all(folder).unwrap();
        }
        let mounted = run("bindfs", format!("{} {}", below.display(), folder.display()));
        seen(mounted.map(|_| Self { device: String::new(), folder, remove: |_| {} }))
    }

    /// On compressed memory.
    fn on_memory(mindful: &Mindful) -> Option<Self> {
        let device = || {
            let name = format!("zram{}", fs::read_to_string("/sys/class/zram-control/hot_add")?.trim());
            fs::write(format!("/sys/block/{name}/disksize"), IMAGE_BYTES.to_string())?;
            Ok(format!("/dev/{name}"))
        };
        let device = device().map_err(|error: std::io::Error| format!("zram: {error}"));
        Self::new(device, mindful.path("memory"), EXT4, |device| {
            let number = device.trim_start_matches("/dev/zram");
            let _ = fs::write(format!("/sys/block/zram{number}/reset"), "1");
            let _ = fs::write("/sys/class/zram-control/hot_remove", number);
        })
    }

    fn new(device: Result<String, String>, folder: PathBuf, make: &str, remove: fn(&str)) -> Option<Self> {
        let mounted = Self { device: seen(device)?, folder, remove };
        fs::create_dir_all(&mounted.folder).unwrap();
        seen(run("sh", ["-c", &format!("{make} {0} && mount {0} {1}", mounted.device, mounted.folder.display())]))?;
        Some(mounted)
    }

    pub(super) fn name(&self) -> &str {
        self.device.trim_start_matches("/dev/")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = run("umount", [self.folder.to_str().unwrap()]);
        (self.remove)(&self.device);
    }
}

/// What was made; a notice why not.
fn seen<T>(made: Result<T, String>) -> Option<T> {
    let skip =
        |missing| not_run(&format!("it mounts a file system on a device of its own, which takes root: {missing}"));
    made.map_err(skip).ok()
}

fn measured_in(mindful: &Mindful, folder: &Path) -> Report {
    measured(mindful, folder, PAUSES)
}

fn measured(mindful: &Mindful, folder: &Path, more: impl Words) -> Report {
    let data = folder.join("private").display().to_string();
    mindful.short_run((format!("--target embedded --data-dir {data} --set shared_buffers=1MB --duration 4s"), more))
}

#[test]
fn a_disk_of_memory_is_no_storage() {
    let mindful = Mindful::beside_others(place());
    let Some(memory) = Mounted::on_memory(&mindful) else { return };
    let report = measured_in(&mindful, &memory.folder);
    report.assert_suspect("data-in-memory");
    assert!(report.evidence("data-in-memory").starts_with(memory.name()), "{report}");
    assert!(!report.headline().contains("storage iops") && report.headline().contains("is a ram disk"), "{report}");
}

/// An overlay writes to a folder of another file system: the devices of that one count. The host of a container sees
/// that folder; a container does not, and claims no storage.
#[test]
fn below_an_overlay_is_the_file_system_it_writes_to() {
    if !own_mounts() {
        return;
    }
    let mindful = Mindful::beside_others(place());
    let Some(direct) = Mounted::on_loop(&mindful, "direct", true) else { return };
    let layers = ["lower", "direct/upper", "direct/work", "merged"].map(|name| mindful.path(name));
    for folder in &layers {
        fs::create_dir(folder).unwrap();
    }
    let [lower, upper, work, merged] = layers.each_ref().map(|folder| folder.display().to_string());
    let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
    if seen(run("mount", format!("-t overlay overlay -o {options} {merged}"))).is_none() {
        return;
    }
    private::copy_to(&layers[3].join("private"));
    let seen = measured_in(&mindful, &layers[3]);
    assert!(seen.shows("storage-layer", "overlay at ") && !seen.shows("not-seen", "device: "), "{seen}");
    // Others may read by the same disk, never by this loop device.
    let (device, process) = (seen.figure("device_reads_per_s"), seen.figure("process_reads_per_s"));
    assert!((device / process - 1.0).abs() < 0.15, "{seen}");
    // Like the layers in a container: their upper folder is not visible.
    run("mount", format!("-t tmpfs nodev {}", direct.folder.display())).unwrap();
    let hidden = measured_in(&mindful, &layers[3]);
    run("umount", format!("{} {merged}", direct.folder.display())).unwrap();
    assert!(hidden.shows("not-seen", "device: ") && hidden.shows("storage-layer", "overlay at "), "{hidden}");
    let why = format!("overlay at {merged} is an overlay of other file systems");
    assert!(hidden.run["findings"].to_string().contains(&why), "{hidden}");
    // Lines may break anywhere.
    let headline = unwrapped(&hidden.headline());
    assert!(!headline.contains("storage iops") && headline.contains("physical reads per second"), "{hidden}");
    assert!(headline.contains("the device is not seen"), "{hidden}");
}

#[test]
fn a_reader_of_the_disk_below_a_loop_device_is_found() {
    let mindful = Mindful::beside_others(place());
    let Some(direct) = Mounted::on_loop(&mindful, "direct", true) else { return };
    private::copy_to(&direct.folder.join("private"));
    let _reader = reader(&mindful);
    let beside = measured_in(&mindful, &direct.folder);
    beside.assert_suspect("foreign-reads");
    assert!(!beside.headline().contains("storage iops"), "{beside}");
}

fn btrfs(mindful: &Mindful) -> Option<Mounted> {
    Mounted::over(&mindful.path("btrfs.image"), mindful.path("btrfs"), "mkfs.btrfs -qf", true)
}

#[test]
fn a_btrfs_is_followed_to_its_device() {
    let mindful = Mindful::beside_others(place());
    let Some(btrfs) = btrfs(&mindful) else { return };
    let seen = measured_in(&mindful, &btrfs.folder);
    assert!(seen.shows("storage-layer", "btrfs at ") && !seen.shows("not-seen", "device: "), "{seen}");
    let (device, process) = (seen.figure("device_reads_per_s"), seen.figure("process_reads_per_s"));
    assert!((device / process - 1.0).abs() < 0.15, "{seen}");
    assert!(!seen.has("page-cache") && !seen.has("cache-below"), "{seen}");
}

/// The kernel does not count reads of a file system that a process serves: that is neither the page cache nor storage.
#[test]
fn a_file_system_of_a_process_is_neither_storage_nor_page_cache() {
    let mindful = Mindful::beside_others(place());
    let Some(above) = Mounted::by_a_process(&mindful) else { return };
    private::copy_to(&above.folder.join("private"));
    let seen = measured_in(&mindful, &above.folder);
    assert!(seen.shows("not-seen", "device: ") && seen.shows("not-seen", "process I/O: fuse"), "{seen}");
    assert!(!seen.has("page-cache") && !seen.headline().contains("storage iops"), "{seen}");
    for unknown in ["process_reads_per_s", "device_reads_per_s", "page_cache_share"] {
        assert!(seen.run["steps"][0][unknown].is_null(), "{unknown}: {seen}");
    }
}

/// Data in tmpfs is read from memory, even if the database counts physical reads.
#[test]
fn a_database_in_tmpfs_is_read_from_memory_alone() {
    let mindful = Mindful::beside_others(place());
    let folder = folder_in_memory();
    let report = measured_in(&mindful, folder.path());
    report.assert_suspect("data-in-memory");
    assert_eq!(report.evidence("page-cache"), "all of physical reads", "{report}");
    assert!(report.headline().contains("all from the page cache"), "{report}");
}

/// No other test of this program may run at the same time.
mod alone {
    use super::*;

    #[test]
    fn a_loop_device_is_storage_only_past_the_page_cache() {
        let mindful = Mindful::at(place());
        let Some(buffered) = Mounted::on_loop(&mindful, "buffered", false) else { return };
        private::copy_to(&buffered.folder.join("private"));
        let quiet = Quiet::wait();
        // At full speed the reads of others on the disk below are few in comparison, unless they read at full speed
        // too.
        let cached = retried(
            || measured(&mindful, &buffered.folder, ""),
            |cached| cached.has("cache-below") || !cached.disturbed(),
        );
        drop(quiet);
        cached.assert_suspect("cache-below");
        let evidence = cached.evidence("cache-below");
        assert!(evidence.contains(buffered.name()) && evidence.contains("through the page cache"), "{cached}");
        assert!(!cached.headline().contains("storage iops"), "{cached}");
        assert!(cached.headline().contains("a cache below the file system served"), "{cached}");
        assert!(cached.text.contains("served from between"), "{cached}");
        drop(buffered);
        let Some(direct) = Mounted::on_loop(&mindful, "direct", true) else { return };
        private::copy_to(&direct.folder.join("private"));
        let _quiet = Quiet::wait();
        let clean = measured_in(&mindful, &direct.folder);
        clean.assert_clean();
        assert!(!clean.has("cache-below"), "{clean}");
        assert_eq!(clean.headline().contains("storage iops"), !clean.has("foreign-reads"), "{clean}");
    }
}
