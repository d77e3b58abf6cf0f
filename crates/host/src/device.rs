//! The chain of block devices under a path: file system, dm or md, partition, whole disk, and on below the file of a loop
//! device.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};

use crate::kernel_file::{Kernel, value};
use crate::medium::{Unseen, memory_disk};
use crate::mounts::{self, Mount};

/// Major and minor.
pub type DeviceNumber = (u32, u32);

/// Kernel names of block devices, level by level; the one directly below the file system is first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chain {
    /// The levels, each with a device or more.
    pub levels: Vec<Vec<String>>,
    /// Which of them keeps its blocks in memory, and how.
    pub memory: Option<String>,
}

impl Chain {
    /// `dm-0 < sda2 sdb2 < sda sdb` reads as "dm-0 on sda2 and sdb2 on sda and sdb".
    pub fn text(&self) -> String {
        self.levels.iter().map(|level| level.join(" ")).collect::<Vec<_>>().join(" < ")
    }

    pub fn devices(&self) -> Vec<&str> {
        let mut all: Vec<&str> = Vec::new();
        for name in self.levels.iter().flatten() {
            if !all.contains(&name.as_str()) {
                all.push(name);
            }
        }
        all
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    pub path: PathBuf,
    /// Its mount; `None` for a block device itself, or if mounts cannot be read.
    pub mount: Option<Mount>,
    /// The devices below, or why they are not visible.
    pub chain: Result<Chain, Unseen>,
}

impl Location {
    /// Why the location is in memory, anywhere in the chain; `None` if it is not known to be.
    pub fn memory(&self) -> Option<&str> {
        match &self.chain {
            Ok(chain) => chain.memory.as_deref(),
            Err(Unseen::Memory(why)) => Some(why),
            Err(Unseen::Hidden(_)) => None,
        }
    }
}

/// Finds the location of `path`; for a missing path, the location in which it would be created.
pub fn locate(kernel: &Kernel, path: &Path) -> Location {
    let (mount, roots) = below_path(kernel, path);
    Location { path: path.to_owned(), mount, chain: roots.and_then(|roots| chain_of(kernel, &roots)) }
}

/// The mount of `path`, and the devices directly below it or why they are not visible.
fn below_path(kernel: &Kernel, path: &Path) -> (Option<Mount>, Result<Vec<DeviceNumber>, Unseen>) {
    let (existing, missing) = nearest_existing(path);
    match fs::metadata(&existing) {
        Err(error) => (None, Err(Unseen::Hidden(format!("{} cannot be read ({error})", path.display())))),
        Ok(found) if found.file_type().is_block_device() => (None, Ok(vec![numbers(found.rdev())])),
        Ok(_) => match mounts::holding(&mounts::read(kernel), &existing.join(missing)) {
            Some(mount) => (Some(mount.clone()), roots(kernel, mount)),
            None => (None, Err(Unseen::Hidden("the table of mounts cannot be read".to_owned()))),
        },
    }
}

/// The part of the path that exists and is accessible, and the rest. For a folder that only the server may enter, the
/// table of mounts still shows mounts in it.
fn nearest_existing(path: &Path) -> (PathBuf, PathBuf) {
    let found = path.ancestors().find_map(|above| {
        let existing = fs::canonicalize(if above.as_os_str().is_empty() { Path::new(".") } else { above }).ok()?;
        Some((existing, path.strip_prefix(above).ok()?.to_owned()))
    });
    found.unwrap_or_else(|| (PathBuf::from("/"), PathBuf::new()))
}

/// The devices below a file system, or why they are not visible.
fn roots(kernel: &Kernel, mount: &Mount) -> Result<Vec<DeviceNumber>, Unseen> {
    if mount.device.0 != 0 {
        return Ok(vec![mount.device]);
    }
    if let Some(writes_to) = below_overlay(kernel, mount) {
        return roots(kernel, &writes_to);
    }
    let own = fs::metadata(&mount.source).ok().filter(|source| source.file_type().is_block_device());
    let Some(own) = own.map(|source| numbers(source.rdev())) else {
        return Err(unseen_reason(mount));
    };
    let members = btrfs_members(kernel, own);
    Ok(if members.is_empty() { vec![own] } else { members })
}

/// The mount of an overlay's upper folder. A database's files are there, because files are copied to it when they are
/// first opened for writing. The folder is not visible from within a container. Overlays over overlays are not
/// followed.
fn below_overlay(kernel: &Kernel, mount: &Mount) -> Option<Mount> {
    let upper = fs::canonicalize(mount.upper_dir().filter(|upper| upper.is_absolute())?).ok()?;
    let mounts = mounts::read(kernel);
    mounts::holding(&mounts, &upper).filter(|below| below.fs_type != "overlay").cloned()
}

/// All devices of the btrfs file system with the device `own`.
fn btrfs_members(kernel: &Kernel, own: DeviceNumber) -> Vec<DeviceNumber> {
    let devices_of = |file_system: PathBuf| -> Vec<DeviceNumber> {
        entries(&file_system.join("devices")).iter().filter_map(|device| read_number(device)).collect()
    };
    let mut file_systems = entries(&kernel.sys.join("fs/btrfs")).into_iter().map(devices_of);
    file_systems.find(|devices| devices.contains(&own)).unwrap_or_default()
}

fn unseen_reason(mount: &Mount) -> Unseen {
    let kind = mount.fs_type.as_str();
    if mount.is_memory() {
        return Unseen::Memory(format!("{} at {} is memory, not storage", kind, mount.point.display()));
    }
    let why = match kind {
        "overlay" | "aufs" => {
            "is an overlay of other file systems (a container's own layers): put the data on a volume"
        }
        "zfs" => "does not show the devices of its pool",
        kind if mount.is_network() && kind != "virtiofs" => "is a network file system",
        _ if mount.is_served_by_a_process() => "is served by another process",
        _ => "has no block device of its own",
    };
    Unseen::Hidden(format!("{} at {} {why}", kind, mount.point.display()))
}

/// The folder of the block device `number` in sysfs. A runtime of containers may hide the list by numbers (podman does)
/// and leave the one by names.
pub fn folder(kernel: &Kernel, number: DeviceNumber) -> Option<PathBuf> {
    let (major, minor) = number;
    let listed = fs::canonicalize(kernel.sys.join(format!("dev/block/{major}:{minor}"))).ok();
    listed.or_else(|| {
        let all = entries(&kernel.sys.join("class/block")).into_iter();
        all.filter(|device| read_number(device) == Some(number)).find_map(|device| fs::canonicalize(device).ok())
    })
}

fn hidden_reason(kernel: &Kernel, (major, minor): DeviceNumber) -> String {
    let listed = entries(&kernel.sys.join("dev/block"));
    let why = if listed.is_empty() {
        ", which lists none: a container's runtime hides them; podman shows them with \
         `--security-opt unmask=/sys/dev/block:/sys/dev`"
    } else {
        ""
    };
    format!("block device {major}:{minor} is not in sysfs{why}")
}

/// Follows the devices downwards. `slaves` lists the parts of dm and md devices; a partition is in its disk's folder.
fn chain_of(kernel: &Kernel, roots: &[DeviceNumber]) -> Result<Chain, Unseen> {
    let mut level = names(kernel, roots)?;
    let mut chain = Chain::default();
    // A chain is a handful of levels; the bound keeps a malformed tree from going on for ever.
    while !level.is_empty() && chain.levels.len() < 16 {
        let mut memory = level.iter().filter_map(|name| memory_of(kernel, name));
        chain.memory = chain.memory.or_else(|| memory.next());
        let below: BTreeSet<String> = level.iter().flat_map(|name| below(kernel, name)).collect();
        chain.levels.push(std::mem::replace(&mut level, Vec::from_iter(below)));
    }
    if chain.levels.is_empty() {
        return Err(Unseen::Hidden("no block device was found".to_owned()));
    }
    Ok(chain)
}

/// How the device `name` keeps its blocks in memory; `None` if it does not, or if only lower devices show that.
fn memory_of(kernel: &Kernel, name: &str) -> Option<String> {
    let file = || match holders(kernel, &backing_file(kernel, name)?) {
        Err(Unseen::Memory(why)) => Some(format!("the file of {name} is not on a disk: {why}")),
        _ => None,
    };
    memory_disk(kernel, name).map(|what| format!("{name} is {what}")).or_else(file)
}

fn names(kernel: &Kernel, devices: &[DeviceNumber]) -> Result<Vec<String>, Unseen> {
    let named = |number| name(kernel, number).ok_or_else(|| Unseen::Hidden(hidden_reason(kernel, number)));
    devices.iter().copied().map(named).collect()
}

pub(crate) fn name(kernel: &Kernel, number: DeviceNumber) -> Option<String> {
    file_name(&folder(kernel, number)?)
}

fn below(kernel: &Kernel, name: &str) -> Vec<String> {
    if let Some(file) = backing_file(kernel, name) {
        // [`unseen_below`] returns why there are no devices.
        return holders(kernel, &file).unwrap_or_default();
    }
    let folder = kernel.sys.join("class/block").join(name);
    let slaves: Vec<String> = entries(&folder.join("slaves")).iter().filter_map(|slave| file_name(slave)).collect();
    if slaves.is_empty() { disk_of(kernel, name).into_iter().collect() } else { slaves }
}

/// The devices below the file of a loop device, or why they are not visible.
fn holders(kernel: &Kernel, file: &Path) -> Result<Vec<String>, Unseen> {
    names(kernel, &below_path(kernel, file).1?)
}

/// Why nothing is visible below the file of the loop device `name`; `None` if something is, and for any other device.
pub fn unseen_below(kernel: &Kernel, name: &str) -> Option<String> {
    backing_file(kernel, name).and_then(|file| holders(kernel, &file).err()).map(|why| why.to_string())
}

/// The disk of the partition `name`; `None` for other devices.
pub fn disk_of(kernel: &Kernel, name: &str) -> Option<String> {
    let folder = kernel.sys.join("class/block").join(name);
    let real = folder.join("partition").exists().then(|| fs::canonicalize(&folder).ok())??;
    file_name(real.parent()?)
}

/// The file below the loop device `name`, from which [`locate`] finds the next chain; `None` for any other device.
pub fn backing_file(kernel: &Kernel, name: &str) -> Option<PathBuf> {
    value(kernel.sys.join("class/block").join(name).join("loop/backing_file")).map(PathBuf::from)
}

/// Whether the loop device `name` reads its file through the page cache; `None` for any other device.
pub fn reads_through_page_cache(kernel: &Kernel, name: &str) -> Option<bool> {
    Some(value(kernel.sys.join("class/block").join(name).join("loop/dio"))? == "0")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.filter_map(|entry| entry.ok().map(|entry| entry.path())).collect();
    paths.sort();
    paths
}

fn file_name(path: &Path) -> Option<String> {
    path.file_name().map(|name| name.to_string_lossy().into_owned())
}

pub fn number(kernel: &Kernel, name: &str) -> Option<DeviceNumber> {
    read_number(&kernel.sys.join("class/block").join(name))
}

/// The number of the device with this `folder` in sysfs.
fn read_number(folder: &Path) -> Option<DeviceNumber> {
    parse_number(&value(folder.join("dev"))?)
}

pub(crate) fn parse_number(text: &str) -> Option<DeviceNumber> {
    let (major, minor) = text.split_once(':')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

fn numbers(device: u64) -> DeviceNumber {
    (rustix::fs::major(device), rustix::fs::minor(device))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    /// A sysfs with a logical volume on a mirror of two partitions, as the kernel lays it out, and no mounts.
    fn mirror() -> (tempfile::TempDir, Kernel) {
        let root = tempfile::tempdir().unwrap();
        let kernel = Kernel { proc: root.path().join("proc"), sys: root.path().join("sys") };
        for folder in ["proc/self", "sys/class/block", "sys/dev/block"] {
            fs::create_dir_all(root.path().join(folder)).unwrap();
        }
        add(&kernel, "dm-0", "253:0", &["md0"]);
        add(&kernel, "md0", "9:0", &["sda2", "sdb2"]);
        for (disk, partition, number) in [("sda", "sda2", "8:0"), ("sdb", "sdb2", "8:16")] {
            let folder = add(&kernel, disk, number, &[]).join(partition);
            fs::create_dir_all(&folder).unwrap();
            fs::write(folder.join("partition"), "2\n").unwrap();
            symlink(&folder, kernel.sys.join("class/block").join(partition)).unwrap();
        }
        (root, kernel)
    }

    /// Adds a device above `slaves`; returns its folder.
    fn add(kernel: &Kernel, name: &str, number: &str, slaves: &[&str]) -> PathBuf {
        let (folder, block) = (kernel.sys.join("devices").join(name), kernel.sys.join("class/block"));
        fs::create_dir_all(folder.join("slaves")).unwrap();
        symlink(&folder, block.join(name)).unwrap();
        symlink(&folder, kernel.sys.join("dev/block").join(number)).unwrap();
        for slave in slaves {
            symlink(block.join(slave), folder.join("slaves").join(slave)).unwrap();
        }
        folder
    }

    /// Adds the loop device 7:3 over a file in the root; returns the file.
    fn add_loop(kernel: &Kernel) -> PathBuf {
        let folder = add(kernel, "loop3", "7:3", &[]).join("loop");
        fs::create_dir(&folder).unwrap();
        let image = kernel.sys.with_file_name("my image");
        fs::write(&image, "").unwrap();
        fs::write(folder.join("backing_file"), format!("{}\n", image.display())).unwrap();
        image
    }

    /// Mounts a file system at the root, as the kernel writes it.
    fn mount(kernel: &Kernel, number: &str, file_system: &str) {
        let line = format!("27 1 {number} / {} rw - {file_system}\n", kernel.sys.parent().unwrap().display());
        fs::write(kernel.proc.join("self/mountinfo"), line).unwrap();
    }

    #[test]
    fn a_logical_volume_is_followed_down_to_the_disks() {
        let (_root, kernel) = mirror();
        let chain = chain_of(&kernel, &[(253, 0)]).unwrap();
        assert_eq!(chain.text(), "dm-0 < md0 < sda2 sdb2 < sda sdb");
        assert_eq!(chain.devices(), ["dm-0", "md0", "sda2", "sdb2", "sda", "sdb"]);
    }

    #[test]
    fn a_loop_device_is_followed_below_its_file() {
        let (_root, kernel) = mirror();
        let image = add_loop(&kernel);
        assert_eq!((backing_file(&kernel, "loop3"), backing_file(&kernel, "sda")), (Some(image), None));
        mount(&kernel, "253:0", "ext4 /dev/dm-0 rw");
        for (dio, through) in [("0\n", true), ("1\n", false)] {
            fs::write(kernel.sys.join("class/block/loop3/loop/dio"), dio).unwrap();
            assert_eq!(reads_through_page_cache(&kernel, "loop3"), Some(through));
        }
        assert_eq!(reads_through_page_cache(&kernel, "sda"), None);
        assert_eq!(chain_of(&kernel, &[(7, 3)]).unwrap().text(), "loop3 < dm-0 < md0 < sda2 sdb2 < sda sdb");
        assert_eq!((unseen_below(&kernel, "loop3"), unseen_below(&kernel, "sda")), (None, None));
        // A file on a file system without a device ends the chain.
        mount(&kernel, "0:31", "ext4 tmpfs rw");
        assert_eq!(chain_of(&kernel, &[(7, 3)]).unwrap().text(), "loop3");
        let reason = unseen_below(&kernel, "loop3").unwrap();
        assert!(reason.starts_with("ext4 at ") && reason.ends_with(" has no block device of its own"), "{reason}");
    }

    #[test]
    fn a_file_system_without_a_device_of_its_own_says_why() {
        let (root, kernel) = mirror();
        for (file_system, why) in [
            ("nfs4 filer:/export rw,vers=4.2", "is a network file system"),
            ("nfs filer:/export rw,vers=3", "is a network file system"),
            ("9p shared rw,trans=virtio", "is a network file system"),
            ("virtiofs shared rw", "is served by another process"),
            ("fuse.sshfs me@filer:/ rw", "is served by another process"),
            ("overlay overlay rw,lowerdir=/l,upperdir=/u,workdir=/w", "is an overlay of other file systems"),
            ("zfs pool/db rw,xattr", "does not show the devices of its pool"),
            ("btrfs /dev/not/here rw,subvol=/@db", "has no block device of its own"),
        ] {
            mount(&kernel, "0:50", file_system);
            let location = locate(&kernel, &root.path().join("data"));
            let (kind, reason) = (location.mount.unwrap().fs_type, location.chain.unwrap_err().to_string());
            assert!(reason.starts_with(&format!("{kind} at ")) && reason.contains(why), "{reason}");
        }
    }

    /// One device holds the file system's mount, all of its devices hold the data.
    #[test]
    fn a_btrfs_lies_on_all_of_its_devices() {
        let (_root, kernel) = mirror();
        let devices = kernel.sys.join("fs/btrfs/0d5f/devices");
        fs::create_dir_all(&devices).unwrap();
        for (name, number) in [("sda2", "8:2\n"), ("sdb2", "8:18\n")] {
            let folder = fs::canonicalize(kernel.sys.join("class/block").join(name)).unwrap();
            fs::write(folder.join("dev"), number).unwrap();
            symlink(&folder, devices.join(name)).unwrap();
            symlink(&folder, kernel.sys.join("dev/block").join(number.trim())).unwrap();
        }
        let members = btrfs_members(&kernel, (8, 18));
        assert_eq!(members, [(8, 2), (8, 18)]);
        assert_eq!(chain_of(&kernel, &members).unwrap().text(), "sda2 sdb2 < sda sdb");
        assert_eq!(btrfs_members(&kernel, (8, 33)), [], "of another file system");
    }

    /// bcache and a dm-cache hold a fast and a slow device; both are below.
    #[test]
    fn both_devices_of_a_cache_are_below_it() {
        let (_root, kernel) = mirror();
        add(&kernel, "bcache0", "252:0", &["sda2", "sdb"]);
        assert_eq!(chain_of(&kernel, &[(252, 0)]).unwrap().text(), "bcache0 < sda2 sdb < sda");
    }

    #[test]
    fn a_device_that_a_container_hides_by_number_is_found_by_name() {
        let (_root, kernel) = mirror();
        let reason = chain_of(&kernel, &[(9, 9)]).unwrap_err().to_string();
        assert!(reason.contains("9:9") && !reason.contains("unmask"), "others are listed: {reason}");
        fs::remove_dir_all(kernel.sys.join("dev/block")).unwrap();
        let reason = chain_of(&kernel, &[(253, 0)]).unwrap_err().to_string();
        assert!(reason.contains("--security-opt unmask=/sys/dev/block:/sys/dev"), "{reason}");
        fs::write(kernel.sys.join("devices/dm-0/dev"), "253:0\n").unwrap();
        assert_eq!(chain_of(&kernel, &[(253, 0)]).unwrap().levels[0], ["dm-0"]);
    }

    /// A mapped volume on a RAM disk, and a loop device over a file in tmpfs, as the kernel lays them out.
    #[test]
    fn memory_is_named_wherever_in_the_chain_it_is() {
        let (_root, kernel) = mirror();
        add(&kernel, "ram0", "1:0", &[]);
        add(&kernel, "dm-1", "253:1", &["ram0"]);
        let memory = |number| chain_of(&kernel, &[number]).unwrap().memory;
        assert_eq!(memory((253, 1)).as_deref(), Some("ram0 is a RAM disk"));
        assert_eq!(memory((253, 0)), None);
        add_loop(&kernel);
        mount(&kernel, "0:31", "tmpfs tmpfs rw");
        add(&kernel, "dm-2", "253:2", &["loop3"]);
        assert!(memory((253, 2)).unwrap().starts_with("the file of loop3 is not on a disk: tmpfs at "));
    }

    #[test]
    fn a_tmpfs_is_not_seen_and_says_that_it_is_memory() {
        let location = locate(&Kernel::default(), Path::new("/dev/shm/not/made/yet"));
        assert!(location.memory().unwrap().contains("is memory, not storage"));
        assert_eq!(location.mount.unwrap().fs_type, "tmpfs");
    }

    #[test]
    fn the_device_of_a_folder_is_the_one_its_files_say() {
        let folder = tempfile::tempdir().unwrap();
        let location = locate(&Kernel::default(), folder.path());
        match location.chain {
            Ok(chain) => {
                let device = numbers(fs::metadata(folder.path()).unwrap().dev());
                let known: Vec<_> =
                    chain.levels[0].iter().filter_map(|name| number(&Kernel::default(), name)).collect();
                assert!(device.0 == 0 || known == [device], "{known:?} {device:?}");
            }
            // In a container the temporary folder may lie in layers: then the reason names the file system.
            Err(reason) => assert!(reason.to_string().contains(&location.mount.unwrap().fs_type), "{reason}"),
        }
    }

    /// In private mounts of the test: the overlay's upper folder is on another file system than the overlay itself.
    #[test]
    fn an_overlay_is_followed_to_its_upper_folder() {
        if !mindful_conformance::own_mounts() {
            return;
        }
        let (lies, memory) = (tempfile::tempdir().unwrap(), tempfile::tempdir_in("/dev/shm").unwrap());
        let kernel = Kernel::default();
        let of = |path: &Path| locate(&kernel, path).chain;
        let mounted = |upper: &Path| {
            let layers = ["lower", "merged"].map(|name| lies.path().join(name));
            let written = ["upper", "work"].map(|name| upper.join(name));
            layers.iter().chain(&written).for_each(|folder| fs::create_dir_all(folder).unwrap());
            let show = |path: &Path| path.display().to_string();
            let [upper, work] = written.each_ref().map(|path| show(path));
            let options = format!("lowerdir={},upperdir={upper},workdir={work}", show(&layers[0]));
            let mut mount = std::process::Command::new("mount");
            let mount = mount.args(["-t", "overlay", "overlay", "-o", &options]).arg(&layers[1]).status().unwrap();
            mount.success().then(|| layers[1].clone())
        };
        let Some(merged) = mounted(lies.path()) else {
            return mindful_conformance::not_run("the kernel mounts no overlay here");
        };
        assert_eq!(of(&merged.join("new")), of(lies.path()));
        assert!(of(&merged).is_ok(), "{:?}", of(&merged));
        // A folder in memory; it covers the first.
        let merged = mounted(memory.path()).unwrap();
        assert!(matches!(of(&merged), Err(Unseen::Memory(why)) if why.starts_with("tmpfs at ")));
    }
}
