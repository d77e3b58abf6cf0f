//! Checks of file systems and devices.

use mindful_core::plan::units;
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;

use crate::environment::storage::{Device, Storage};

/// Above this the read-ahead of the page cache may turn one wanted block into megabytes, KiB.
const LARGE_READ_AHEAD_KIB: u64 = 1024;
/// Below this share of free space file systems and flash slow down.
const LOW_SPACE: f64 = 0.05;

pub(super) fn io_limit(limit: &str) -> Finding {
    let line = match limit.split_whitespace().next() {
        Some(file) if file.starts_with("blkio.") => {
            format!("echo 'MAJOR:MINOR 0' > {file}, and so for each file named")
        }
        Some(file @ "io.latency") => format!("echo 'MAJOR:MINOR target=0' > {file}"),
        Some(file @ "io.cost.qos") => format!("echo 'MAJOR:MINOR enable=0' > {file}"),
        _ => "echo 'MAJOR:MINOR rbps=max wbps=max riops=max wiops=max' > io.max".to_owned(),
    };
    codes::HOST_SETTING.finding(
        format!(
            "A control group limits the server's I/O: the result shows that limit, not the device. Where that is not \
             meant, for the group that /proc/PID/cgroup names: {line}"
        ),
        limit,
    )
}

/// What kind of file system the data lies in.
pub(super) fn file_system(storage: &Storage) -> Option<Finding> {
    let mount = storage.location.mount.as_ref()?;
    let evidence = format!("{} at {}", mount.fs_type, mount.point.display());
    match mount.fs_type.as_str() {
        "tmpfs" | "ramfs" => Some(codes::DATA_IN_MEMORY.finding("The data lies in memory: no read or write reaches storage. Give a --data-dir or a path on a disk: lsblk -f",
            evidence,
        )),
        "zfs" => Some(codes::STORAGE_LAYER.finding("ZFS keeps a cache of its own and reads and writes whole records: a block the database reads may come from \
             that cache, and one it writes may cost many. For 8 KiB blocks: zfs set recordsize=8K primarycache=metadata \
             compression=off POOL/DATASET, before the load",
            evidence,
        )),
        "btrfs" | "bcachefs" => Some(codes::STORAGE_LAYER.finding("Every write goes to a new place, so updates scatter the file and cost extra writes of metadata. For a new, \
             empty folder: chattr +C FOLDER",
            evidence,
        )),
        "overlay" => Some(codes::STORAGE_LAYER.finding("The data lies in a container's own layers: the first write of each file copies it, and from within \
             a container the device is not seen. Put the data on a volume: docker run -v /path:/data",
            evidence,
        )),
        _ if mount.is_network() => Some(codes::STORAGE_LAYER.finding("The storage is behind a network or another host: latency includes the way there, and caches on the other \
             side are not seen. For storage of this host, give a --data-dir or a path on one of: lsblk -f",
            evidence,
        )),
        _ => None,
    }
}

/// Mount options that change what a write or a stored block means.
pub(super) fn mount_options(storage: &Storage) -> Vec<Finding> {
    let Some(mount) = &storage.location.mount else { return Vec::new() };
    let evidence = |option: &str| format!("{option} at {}", mount.point.display());
    let finding = |option: &str| {
        match option {
        "nobarrier" | "barrier=0" => Some(codes::BARRIERS_OFF.finding("The file system does not flush the device's cache: commits are faster than they would be if they were \
             durable. mount -o remount,barrier MOUNT_POINT",
            evidence(option),
        )),
        "data=journal" => Some(codes::STORAGE_LAYER.finding("Every block is written twice, to the journal and to its place. Unmounted, then: mount -o data=ordered \
             DEVICE MOUNT_POINT",
            evidence(option),
        )),
        "sync" => Some(codes::STORAGE_LAYER.finding("Every write waits for the device, whatever the database asked for: updates look slower than they are. mount -o remount,async MOUNT_POINT",
            evidence(option),
        )),
        option if option.starts_with("compress") && !option.ends_with("=none") && !option.ends_with("=no") => {
            Some(codes::STORAGE_LAYER.finding("The file system compresses: fewer bytes reach the device than the database writes, and CPU is spent on it. \
             mount -o remount,compress=none MOUNT_POINT, before the load",
                evidence(option),
            ))
        }
        _ => None,
    }
    };
    mount.options.split(',').filter_map(finding).collect()
}

pub(super) fn space(storage: &Storage) -> Option<Finding> {
    let (size, free) = (storage.size_bytes?, storage.free_bytes?);
    if size == 0 || free as f64 / size as f64 >= LOW_SPACE {
        return None;
    }
    let mount = storage.location.mount.as_ref().map_or_else(String::new, |mount| mount.point.display().to_string());
    Some(codes::SPACE_LOW.finding(
        "The file system is nearly full: new files come in pieces, and flash has little room to prepare blocks, so \
         writes slow down. Free some first (what takes it: du -x -h -d 1 MOUNT_POINT), then: fstrim MOUNT_POINT",
        format!("{} of {} free at {mount}", units::format_bytes(free), units::format_bytes(size)),
    ))
}

/// All that is to be said of one device. In a guest nobody knows whether the disk below turns.
pub(super) fn device(device: &Device, guest: bool) -> Vec<Finding> {
    let found = [scheduler(device), read_ahead(device), write_cache(device), layer(device), cloud_volume(device)];
    let mut findings: Vec<Finding> = found.into_iter().flatten().collect();
    if device.rotational.as_deref() == Some("1") && !guest && device.layer.is_none() {
        findings.push(codes::STORAGE_LAYER.finding("A turning disk: a random read takes milliseconds, and where on the disk the data lies changes the result. By \
             how much, tells: mindful raw PATH --spans outer,inner,mix,full",
            format!("{}: rotational", device.name),
        ));
    }
    findings
}

fn scheduler(device: &Device) -> Option<Finding> {
    let scheduler = device.scheduler.as_deref().filter(|name| *name != "none")?;
    let name = &device.name;
    let cost = if scheduler == "bfq" {
        "It is made for fairness between desktop programs and costs much CPU a request."
    } else {
        "It sorts and delays requests, favours reads over writes, and costs CPU a request."
    };
    Some(codes::HOST_SETTING.finding(
        format!("An I/O scheduler stands before the device. {cost} echo none > /sys/block/{name}/queue/scheduler"),
        format!("I/O scheduler of {name}: {scheduler}"),
    ))
}

fn read_ahead(device: &Device) -> Option<Finding> {
    let kib = device.read_ahead_kb.as_deref()?.parse::<u64>().ok().filter(|kib| *kib > LARGE_READ_AHEAD_KIB)?;
    let name = &device.name;
    Some(codes::HOST_SETTING.finding(
        format!(
            "Reads through the page cache that look sequential fetch far more than is asked for: device bytes exceed \
             the database's. Direct I/O is not concerned. echo 128 > /sys/block/{name}/queue/read_ahead_kb"
        ),
        format!("read-ahead of {name}: {kib} KiB"),
    ))
}

fn write_cache(device: &Device) -> Option<Finding> {
    device.write_cache.as_deref().filter(|mode| *mode == "write back")?;
    let name = &device.name;
    Some(codes::STORAGE_LAYER.finding(format!(
            "The device has a cache that loses its content without power: every commit waits for it to be flushed, and how \
             long that takes is a property of the device. Compare commits only between like devices. Where a battery or \
             the host below keeps the cache: echo 'write through' > /sys/block/{name}/queue/write_cache"
        ),
        format!("write cache of {name}: write back"),
    ))
}

fn layer(device: &Device) -> Option<Finding> {
    let layer = device.layer.as_deref()?;
    if layer == "memory" {
        let text = "The data lies in memory: the device is a RAM disk, and no read or write reaches storage. Give a \
                    --data-dir or a path on a disk: lsblk -f";
        return Some(codes::DATA_IN_MEMORY.finding(text, format!("{}: a RAM disk", device.name)));
    }
    let what = if layer.starts_with("CRYPT") {
        "The data is encrypted below the file system: every block costs CPU in the kernel that no process is charged \
         with. What it can do at most, tells: cryptsetup benchmark; a --data-dir on a plain device leaves it out"
    } else if layer.starts_with("VDO") {
        "A layer below removes doubles and compresses: bytes at the device are not those of the database. Before the \
         load: lvchange --compression n --deduplication n VOLUME"
    } else if layer.starts_with("loop of") && layer.ends_with(", direct") {
        "The device is a file of another file system: each block passes both; that one's page cache is passed by. For one \
         file system less, give a --data-dir on a plain device: lsblk -f"
    } else if layer.starts_with("loop of") {
        "The device is a file of another file system: each block passes both, and that one's page cache too, unless the \
         device was set up with losetup --direct-io=on."
    } else if layer.starts_with("bcache") {
        "Reads come from a fast device or from a slow one, and nobody above sees which: the two stand apart in the ledger. \
         For one of them alone, give a --data-dir on it: lsblk -f"
    } else {
        return None;
    };
    Some(codes::STORAGE_LAYER.finding(what, format!("{}: {layer}", device.name)))
}

fn cloud_volume(device: &Device) -> Option<Finding> {
    let model = device.model.as_deref()?;
    let known = ["Amazon Elastic Block Store", "PersistentDisk", "Virtual Disk", "nvme_card-pd", "BlockVolume"];
    known.iter().any(|name| model.contains(name)).then(|| {
        codes::STORAGE_LAYER.finding(format!(
                "A volume with limits of I/Os and bytes per second, perhaps with credit for bursts; made from a snapshot, \
                 each block is slow when first touched. Touch all of it once: dd if=/dev/{0} of=/dev/null bs=1M \
                 iflag=direct, and run longer than its burst lasts",
                device.name
            ),
            format!("{}: {model}", device.name),
        )
    })
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use mindful_core::result::Severity;
    use mindful_host::device::{Chain, Location};
    use mindful_host::mounts;

    use super::*;

    fn storage(fs_type: &str, options: &str) -> Storage {
        let mount = mounts::parse(&format!("25 1 8:1 / /data {options} - {fs_type} /dev/sda1")).remove(0);
        let location = Location { path: PathBuf::from("/data/x"), mount: Some(mount), chain: Ok(Chain::default()) };
        Storage { location, size_bytes: Some(1000), free_bytes: Some(500), devices: Vec::new() }
    }

    fn codes(findings: &[Finding]) -> Vec<&str> {
        findings.iter().map(|finding| finding.code.as_str()).collect()
    }

    #[test]
    fn data_in_memory_is_a_warning_and_a_plain_file_is_nothing() {
        let finding = file_system(&storage("tmpfs", "rw")).unwrap();
        assert_eq!((finding.code.as_str(), finding.severity), ("data-in-memory", Severity::Warning));
        assert_eq!(file_system(&storage("zfs", "rw")).unwrap().code, "storage-layer");
        assert_eq!(file_system(&storage("nfs4", "rw")).unwrap().code, "storage-layer");
        assert_eq!((file_system(&storage("ext4", "rw")), file_system(&storage("xfs", "rw"))), (None, None));
    }

    #[test]
    fn options_that_change_what_a_write_means_are_reported() {
        let of = |options| mount_options(&storage("ext4", options));
        assert_eq!(codes(&of("rw,relatime,nobarrier,data=journal")), ["barriers-off", "storage-layer"]);
        assert_eq!(codes(&of("rw,compress=zstd:3")), ["storage-layer"]);
        assert!(of("rw,relatime,discard,compress=none,barrier=1").is_empty());
    }

    #[test]
    fn a_nearly_full_file_system_is_reported() {
        let full = Storage { free_bytes: Some(49), ..storage("ext4", "rw") };
        assert_eq!(space(&full).unwrap().code, "space-low");
        assert_eq!(space(&storage("ext4", "rw")), None);
        assert_eq!(space(&Storage { free_bytes: None, ..full }), None);
    }

    #[test]
    fn each_trait_of_a_device_has_the_line_that_changes_it() {
        let text = |text: &str| Some(text.to_owned());
        let disk = Device {
            name: "nvme1n1".to_owned(),
            model: text("Amazon Elastic Block Store"),
            scheduler: text("mq-deadline"),
            read_ahead_kb: text("8192"),
            write_cache: text("write back"),
            rotational: text("1"),
            ..Device::default()
        };
        let findings = device(&disk, false);
        let expected = ["host-setting", "host-setting", "storage-layer", "storage-layer", "storage-layer"];
        assert_eq!(codes(&findings), expected);
        assert!(findings[0].text.contains("echo none > /sys/block/nvme1n1/queue/scheduler"));
        assert_eq!(device(&disk, true).len(), findings.len() - 1, "a guest knows nothing of turning disks");
        let quiet = Device { scheduler: text("none"), write_cache: text("write through"), ..Device::default() };
        assert!(device(&quiet, false).is_empty());
        let locked = Device { layer: text("CRYPT-LUKS2"), ..Device::default() };
        assert_eq!(codes(&device(&locked, false)), ["storage-layer"]);
    }
}
