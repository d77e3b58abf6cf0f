//! Checks of file systems and devices.

use mindful_core::plan::units;
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;

use crate::environment::storage::{Device, Storage};

/// Above this the read-ahead of the page cache may read megabytes for one requested block, KiB.
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
            "A control group limits the server's I/O, so the result describes that limit and not the device. To \
             remove it, in the group that /proc/PID/cgroup names: {line}"
        ),
        limit,
    )
}

/// Memory below the data, anywhere in the chain.
pub(super) fn memory(storage: &Storage) -> Option<Finding> {
    let text = "The data is in memory, so no read or write reaches storage. Use a --data-dir or a path on a disk: lsblk \
                -f";
    storage.location.memory().map(|what| codes::DATA_IN_MEMORY.finding(text, what))
}

/// The same below the log.
pub(super) fn log_in_memory(storage: &Storage) -> Option<Finding> {
    let text = "The log is in memory, so commits do not wait for storage and a crash loses them. Use a --log-dir or a \
                data directory on a disk: lsblk -f";
    storage.location.memory().map(|what| codes::NOT_DURABLE.finding(text, what))
}

/// A log with a separate folder on the device of the data. A file system that contains both is only in `of_data`.
pub(super) fn log_beside_data(of_data: &[Storage], of_log: &[Storage]) -> Option<Finding> {
    let lowest = |storage: &Storage| storage.location.chain.as_ref().ok()?.levels.last().cloned();
    let device = of_log.first().or(of_data.first()).and_then(lowest)?;
    let beside = of_data.iter().filter_map(lowest).any(|level| level.iter().any(|one| device.contains(one)));
    let text = "The log has a folder of its own on the device of the data, so the requests of both share that device. Name \
                a --log-dir on another volume: lsblk -f";
    beside.then(|| codes::STORAGE_LAYER.finding(text, format!("log and data on {}", device.join(" "))))
}

pub(super) fn file_system(storage: &Storage) -> Option<Finding> {
    let mount = storage.location.mount.as_ref()?;
    let text = match mount.fs_type.as_str() {
        "zfs" => {
            "ZFS has its own cache and reads and writes whole records. A block that the database reads may come from \
             that cache, and one written block may write many. For 8 KiB blocks, before the load: zfs set \
             recordsize=8K primarycache=metadata compression=off POOL/DATASET"
        }
        "btrfs" | "bcachefs" => {
            "Each write goes to a new place, so updates scatter the file and write more metadata. For a new, empty \
             folder: chattr +C FOLDER"
        }
        "overlay" => {
            "The data is in a container's own layers. The first write copies each file, and the device is not \
             visible inside the container. Put the data on a volume: docker run -v /path:/data"
        }
        _ if mount.is_network() => {
            "The storage is reached over a network. Latency includes the network, and caches on the other side are \
             not visible. For storage of this host, use a --data-dir or a path on one of: lsblk -f"
        }
        _ => return None,
    };
    Some(codes::STORAGE_LAYER.finding(text, format!("{} at {}", mount.fs_type, mount.point.display())))
}

/// Mount options that change the effect of a write or the contents of a stored block.
pub(super) fn mount_options(storage: &Storage) -> Vec<Finding> {
    let Some(mount) = &storage.location.mount else { return Vec::new() };
    let finding = |option: &str| {
        let at = format!("{option} at {}", mount.point.display());
        Some(match option {
            "nobarrier" | "barrier=0" => codes::BARRIERS_OFF.finding(
                "The file system does not flush the device's cache, so commits return before they are durable. Turn \
                 barriers on: mount -o remount,barrier MOUNT_POINT",
                at,
            ),
            "data=journal" => codes::STORAGE_LAYER.finding(
                "Each block is written twice, first to the journal and then to its place. Unmount the file system, \
                 then: mount -o data=ordered DEVICE MOUNT_POINT",
                at,
            ),
            "sync" => codes::STORAGE_LAYER.finding(
                "Each write waits for the device even if the database does not ask for it, so updates appear slower \
                 than they are. To change that: mount -o remount,async MOUNT_POINT",
                at,
            ),
            option if option.starts_with("compress") && !option.ends_with("=none") && !option.ends_with("=no") => {
                codes::STORAGE_LAYER.finding(
                    "The file system compresses, which takes CPU, and fewer bytes reach the device than the database \
                 writes. Before the load: mount -o remount,compress=none MOUNT_POINT",
                    at,
                )
            }
            _ => return None,
        })
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
        "The file system is almost full. New files are fragmented, and flash has few prepared blocks, so writes slow \
         down. Free space (to find what uses it: du -x -h -d 1 MOUNT_POINT), then: fstrim MOUNT_POINT",
        format!("{} of {} free at {mount}", units::format_bytes(free), units::format_bytes(size)),
    ))
}

/// All findings on one device. In a guest the kind of the disk below is unknown.
pub(super) fn device(device: &Device, guest: bool) -> Vec<Finding> {
    let found = [scheduler(device), read_ahead(device), write_cache(device), layer(device), cloud_volume(device)];
    let mut findings: Vec<Finding> = found.into_iter().flatten().collect();
    if device.fact("rotational") == Some("1") && !guest && device.fact("layer").is_none() {
        let text = "The device is a turning disk. A random read takes milliseconds, and the position of the data on \
                    the disk changes the result. To measure that: mindful raw PATH --spans outer,inner,mix,full";
        findings.push(codes::STORAGE_LAYER.finding(text, format!("{}: rotational", device.name)));
    }
    findings
}

fn scheduler(device: &Device) -> Option<Finding> {
    let scheduler = device.fact("scheduler").filter(|name| *name != "none")?;
    let name = &device.name;
    let cost = if scheduler == "bfq" {
        "It provides fairness between programs and takes much CPU for each request."
    } else {
        "It sorts and delays requests, prefers reads to writes, and takes CPU for each request."
    };
    Some(codes::HOST_SETTING.finding(
        format!(
            "Requests pass an I/O scheduler before the device. {cost} To turn it off: echo none > \
             /sys/block/{name}/queue/scheduler"
        ),
        format!("I/O scheduler of {name}: {scheduler}"),
    ))
}

fn read_ahead(device: &Device) -> Option<Finding> {
    let kib = device.fact("read_ahead_kb")?.parse::<u64>().ok().filter(|kib| *kib > LARGE_READ_AHEAD_KIB)?;
    let name = &device.name;
    Some(codes::HOST_SETTING.finding(
        format!(
            "Buffered reads that look sequential fetch far more than the database requests. Direct I/O is not \
             affected. To reduce it: echo 128 > /sys/block/{name}/queue/read_ahead_kb"
        ),
        format!("read-ahead of {name}: {kib} KiB"),
    ))
}

fn write_cache(device: &Device) -> Option<Finding> {
    device.fact("write_cache").filter(|mode| *mode == "write back")?;
    let name = &device.name;
    Some(codes::STORAGE_LAYER.finding(
        format!(
            "The device has a volatile write cache, so each commit waits for a flush, and its latency is a property \
             of the device. Compare commits only between similar devices. If a battery or the host below protects \
             the cache: echo 'write through' > /sys/block/{name}/queue/write_cache"
        ),
        format!("write cache of {name}: write back"),
    ))
}

fn layer(device: &Device) -> Option<Finding> {
    let layer = device.fact("layer")?;
    let what = if layer.starts_with("CRYPT") {
        "The data is encrypted below the file system. Each block takes CPU in the kernel that is charged to no \
         process. Measure its limit with cryptsetup benchmark, or use a --data-dir on a plain device"
    } else if layer.starts_with("VDO") {
        "A layer below deduplicates and compresses, so the device's bytes are not the database's. Before the load: \
         lvchange --compression n --deduplication n VOLUME"
    } else if layer.starts_with("loop of") && layer.ends_with(", direct") {
        "The device is a file of another file system, so each block passes both. The page cache of the other one is \
         bypassed. To avoid the second file system, use a --data-dir on a plain device: lsblk -f"
    } else if layer.starts_with("loop of") {
        "The device is a file of another file system, so each block passes both and the page cache of the other one. \
         To bypass that cache: losetup --direct-io=on"
    } else if layer.starts_with("bcache") {
        "A fast device caches a slow one, and reads come from either. The ledger shows both. To measure one of them, \
         use a --data-dir on it: lsblk -f"
    } else {
        return None;
    };
    Some(codes::STORAGE_LAYER.finding(what, format!("{}: {layer}", device.name)))
}

fn cloud_volume(device: &Device) -> Option<Finding> {
    let model = device.fact("model")?;
    let known = ["Amazon Elastic Block Store", "PersistentDisk", "Virtual Disk", "nvme_card-pd", "BlockVolume"];
    known.iter().any(|name| model.contains(name)).then(|| {
        codes::STORAGE_LAYER.finding(
            format!(
                "The volume has limits of requests and bytes per second, perhaps with burst credit. If it was made \
                 from a snapshot, the first read of each block is slow. Read all of it once, then run longer than \
                 the burst lasts: dd if=/dev/{0} of=/dev/null bs=1M iflag=direct",
                device.name
            ),
            format!("{}: {model}", device.name),
        )
    })
}
