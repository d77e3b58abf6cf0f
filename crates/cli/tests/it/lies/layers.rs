//! Devices that keep a cache below the file system, or are one.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use mindful_conformance::{not_run, own_mounts};

use crate::lies::bench::{Bench, Reported, tried};
use crate::mindful::alone::Quiet;
use crate::mindful::{PAUSES, template};

const IMAGE_BYTES: u64 = 512 << 20;

fn run(program: &str, args: &[&str]) -> Result<String, String> {
    let output = Command::new(program).args(args).output().map_err(|error| format!("{program}: {error}"))?;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim().to_owned();
    if output.status.success() { Ok(text(&output.stdout)) } else { Err(format!("{program}: {}", text(&output.stderr))) }
}

/// An ext4 file system on a block device of the test's own, mounted until this is dropped.
struct Mounted {
    device: String,
    folder: PathBuf,
    remove: fn(&str),
}

impl Mounted {
    /// On a loop device over a file.
    fn on_loop(bench: &Bench, name: &str, direct: bool) -> Result<Self, String> {
        let image = bench.path(&format!("{name}.image"));
        fs::File::create(&image).and_then(|file| file.set_len(IMAGE_BYTES)).map_err(|error| error.to_string())?;
        let mode = if direct { "--direct-io=on" } else { "--direct-io=off" };
        let device = run("losetup", &[mode, "--find", "--show", &image.display().to_string()])?;
        Self::new(bench, name, "mkfs.ext4", device, |device| drop(run("losetup", &["--detach", device])))
    }

    /// A btrfs on a loop device that passes the page cache by.
    fn btrfs(bench: &Bench) -> Result<Self, String> {
        let image = bench.path("btrfs.image");
        fs::File::create(&image).and_then(|file| file.set_len(IMAGE_BYTES)).map_err(|error| error.to_string())?;
        let device = run("losetup", &["--direct-io=on", "--find", "--show", &image.display().to_string()])?;
        Self::new(bench, "btrfs", "mkfs.btrfs", device, |device| drop(run("losetup", &["--detach", device])))
    }

    /// A folder of another file system, handed on by a process.
    fn by_a_process(bench: &Bench) -> Result<Self, String> {
        let (below, folder) = (bench.path("below"), bench.path("above"));
        for folder in [&below, &folder] {
            fs::create_dir_all(folder).map_err(|error| error.to_string())?;
        }
        run("bindfs", &[&below.display().to_string(), &folder.display().to_string()])?;
        Ok(Self { device: String::new(), folder, remove: |_| {} })
    }

    /// On a disk of compressed memory.
    fn on_memory(bench: &Bench) -> Result<Self, String> {
        let number = fs::read_to_string("/sys/class/zram-control/hot_add").map_err(|error| format!("zram: {error}"))?;
        let name = format!("zram{}", number.trim());
        fs::write(format!("/sys/block/{name}/disksize"), IMAGE_BYTES.to_string()).map_err(|error| error.to_string())?;
        Self::new(bench, "memory", "mkfs.ext4", format!("/dev/{name}"), |device| {
            let number = device.trim_start_matches("/dev/zram");
            let _ = fs::write(format!("/sys/block/zram{number}/reset"), "1");
            let _ = fs::write("/sys/class/zram-control/hot_remove", number);
        })
    }

    fn new(bench: &Bench, name: &str, make: &str, device: String, remove: fn(&str)) -> Result<Self, String> {
        let mounted = Self { device, folder: bench.path(name), remove };
        fs::create_dir_all(&mounted.folder).map_err(|error| error.to_string())?;
        run(make, &[if make == "mkfs.ext4" { "-qF" } else { "-qf" }, &mounted.device])?;
        run("mount", &[&mounted.device, &mounted.folder.display().to_string()])?;
        Ok(mounted)
    }

    fn name(&self) -> &str {
        self.device.trim_start_matches("/dev/")
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = run("umount", &[&self.folder.display().to_string()]);
        (self.remove)(&self.device);
    }
}

/// A run whose database lies in `folder`.
fn measured_in(bench: &Bench, folder: &Path) -> Reported {
    measured(bench, folder, &PAUSES)
}

fn measured(bench: &Bench, folder: &Path, more: &[&str]) -> Reported {
    let data = folder.join("private").display().to_string();
    let args = ["--target", "embedded", "--data-dir", &data, "--set", "shared_buffers=1MB", "--duration", "4s"];
    bench.reported(&bench.run(&[&args[..], more].concat()))
}

fn reported(missing: &str) {
    not_run(&format!("it mounts a file system on a device of its own, which takes root: {missing}"));
}

#[test]
fn a_disk_of_memory_is_no_storage() {
    let bench = Bench::new();
    let memory = match Mounted::on_memory(&bench) {
        Ok(mounted) => mounted,
        Err(missing) => return reported(&missing),
    };
    let reported = measured_in(&bench, &memory.folder);
    reported.assert_suspect("data-in-memory");
    assert!(reported.evidence("data-in-memory").starts_with(memory.name()), "{reported}");
    assert!(!reported.headline().contains("storage iops") && reported.headline().contains("is memory"), "{reported}");
}

/// An overlay writes to a folder of another file system: its devices are those that count. The host of a container sees that
/// folder; a container does not, and claims no storage.
#[test]
fn below_an_overlay_is_the_file_system_it_writes_to() {
    if !own_mounts() {
        return;
    }
    let bench = Bench::new();
    let direct = match Mounted::on_loop(&bench, "direct", true) {
        Ok(mounted) => mounted,
        Err(missing) => return reported(&missing),
    };
    let layers = ["lower", "direct/upper", "direct/work", "merged"].map(|name| bench.path(name));
    for folder in &layers {
        fs::create_dir(folder).unwrap();
    }
    let [lower, upper, work, merged] = layers.each_ref().map(|folder| folder.display().to_string());
    let options = format!("lowerdir={lower},upperdir={upper},workdir={work}");
    if let Err(missing) = run("mount", &["-t", "overlay", "overlay", "-o", &options, &merged]) {
        return reported(&missing);
    }
    template::copy_to(&layers[3].join("private"));
    let seen = measured_in(&bench, &layers[3]);
    assert!(seen.shows("storage-layer", "overlay at ") && !seen.shows("not-seen", "device: "), "{seen}");
    // Others may read by the same disk, never by this loop device.
    let (device, process) = (seen.figure("device_reads_per_s"), seen.figure("process_reads_per_s"));
    assert!((device / process - 1.0).abs() < 0.15, "{seen}");
    // As a container sees its own layers: the folder they are written to is not there.
    run("mount", &["-t", "tmpfs", "nodev", &direct.folder.display().to_string()]).unwrap();
    let hidden = measured_in(&bench, &layers[3]);
    run("umount", &[&direct.folder.display().to_string()]).unwrap();
    run("umount", &[&merged]).unwrap();
    assert!(hidden.shows("not-seen", "device: ") && hidden.shows("storage-layer", "overlay at "), "{hidden}");
    let why = format!("overlay at {merged} lies over other file systems");
    assert!(hidden.run["findings"].to_string().contains(&why), "{hidden}");
    // Lines end anywhere.
    let headline = hidden.headline().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(!headline.contains("storage iops") && headline.contains("physical reads per second"), "{hidden}");
    assert!(headline.contains("the device is not seen"), "{hidden}");
}

#[test]
fn a_btrfs_is_followed_to_its_device() {
    let bench = Bench::new();
    let btrfs = match Mounted::btrfs(&bench) {
        Ok(mounted) => mounted,
        Err(missing) => return reported(&missing),
    };
    let seen = measured_in(&bench, &btrfs.folder);
    assert!(seen.shows("storage-layer", "btrfs at ") && !seen.shows("not-seen", "device: "), "{seen}");
    let (device, process) = (seen.figure("device_reads_per_s"), seen.figure("process_reads_per_s"));
    assert!((device / process - 1.0).abs() < 0.15, "{seen}");
    assert!(!seen.has("page-cache") && !seen.has("cache-below"), "{seen}");
}

/// The kernel counts no read for who asks a file system that a process serves: that is no page cache, and no storage either.
#[test]
fn a_file_system_of_a_process_is_neither_storage_nor_page_cache() {
    let bench = Bench::new();
    let above = match Mounted::by_a_process(&bench) {
        Ok(mounted) => mounted,
        Err(missing) => return reported(&missing),
    };
    template::copy_to(&above.folder.join("private"));
    let seen = measured_in(&bench, &above.folder);
    assert!(seen.shows("not-seen", "device: ") && seen.shows("not-seen", "process I/O: fuse"), "{seen}");
    assert!(!seen.has("page-cache") && !seen.headline().contains("storage iops"), "{seen}");
    for unknown in ["process_reads_per_s", "device_reads_per_s", "page_cache_share"] {
        assert!(seen.run["steps"][0][unknown].is_null(), "{unknown}: {seen}");
    }
}

/// What lies in tmpfs is read from memory, whatever the database calls it.
#[test]
fn a_database_in_tmpfs_is_read_from_memory_alone() {
    let bench = Bench::new();
    let folder = tempfile::Builder::new().prefix("mindful-lies-").tempdir_in("/dev/shm").unwrap();
    fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let reported = measured_in(&bench, folder.path());
    reported.assert_suspect("data-in-memory");
    assert_eq!(reported.evidence("page-cache"), "all of physical reads", "{reported}");
    assert!(reported.headline().contains("all from the page cache"), "{reported}");
}

/// No other test of this program may work beside these.
mod alone {
    use super::*;

    #[test]
    fn a_loop_device_is_storage_only_past_the_page_cache() {
        let bench = Bench::before_quiet();
        let buffered = match Mounted::on_loop(&bench, "buffered", false) {
            Ok(mounted) => mounted,
            Err(missing) => return reported(&missing),
        };
        template::copy_to(&buffered.folder.join("private"));
        let quiet = Quiet::wait();
        // At full speed what others read of the disk below is little beside it, unless they read at full speed too.
        let cached = tried(
            || measured(&bench, &buffered.folder, &[]),
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
        let direct = match Mounted::on_loop(&bench, "direct", true) {
            Ok(mounted) => mounted,
            Err(missing) => return reported(&missing),
        };
        template::copy_to(&direct.folder.join("private"));
        let _quiet = Quiet::wait();
        let clean = measured_in(&bench, &direct.folder);
        clean.assert_clean();
        assert!(!clean.has("cache-below"), "{clean}");
        assert_eq!(clean.headline().contains("storage iops"), !clean.has("foreign-reads"), "{clean}");
    }
}
