//! File systems of the data, and the devices below them.

use std::collections::BTreeMap;
use std::path::PathBuf;

use mindful_core::contract::fact::Kept;
use mindful_core::record::run::Facts;
use mindful_host::Kernel;
use mindful_host::device::{Location, backing_file, locate, reads_through_page_cache, unseen_below};
use mindful_host::kernel_file::value;
use mindful_host::space;

use super::system::{chosen, put};
use crate::diskstats::counts_flushes;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Storage {
    pub(crate) location: Location,
    pub(crate) size_bytes: Option<u64>,
    /// Bytes an ordinary user may still fill.
    pub(crate) free_bytes: Option<u64>,
    /// Devices of the chain, the upper ones first.
    pub(crate) devices: Vec<Device>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Device {
    pub(crate) name: String,
    /// Its known facts, as the kernel writes them.
    pub(crate) facts: BTreeMap<&'static str, String>,
}

impl Storage {
    /// One for each file system or device that holds some of the paths.
    pub(crate) fn of_paths(kernel: &Kernel, paths: &[PathBuf]) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for path in paths {
            let location = locate(kernel, path);
            if !all.iter().any(|other| other.is_same(&location)) {
                all.push(Self::read(kernel, location));
            }
        }
        all
    }

    /// Whether `location` is on this file system.
    pub(crate) fn is_same(&self, location: &Location) -> bool {
        self.location.mount == location.mount && self.location.chain == location.chain
    }

    fn read(kernel: &Kernel, location: Location) -> Self {
        let space = location.mount.as_ref().and_then(|mount| space::of(&mount.point).ok());
        let devices = location
            .chain
            .as_ref()
            .map(|chain| chain.devices().into_iter().map(|name| Device::read(kernel, name)).collect::<Vec<_>>());
        Self {
            size_bytes: space.map(|space| space.total_bytes),
            free_bytes: space.map(|space| space.free_bytes),
            devices: devices.unwrap_or_default(),
            location,
        }
    }

    fn facts(&self, prefix: &str, facts: &mut Facts) {
        let mount = self.location.mount.as_ref();
        let mut put = |name: &str, value: Option<String>| put(facts, format!("{prefix}.{name}"), value);
        put("path", Some(self.location.path.display().to_string()));
        put("filesystem", mount.map(|mount| mount.fs_type.clone()));
        put("mount_point", mount.map(|mount| mount.point.display().to_string()));
        put("mount_options", mount.map(|mount| mount.options.clone()));
        put("source", mount.map(|mount| mount.source.clone()));
        put("size_bytes", self.size_bytes.map(|bytes| bytes.to_string()));
        put("free_bytes", self.free_bytes.map(|bytes| bytes.to_string()));
        match &self.location.chain {
            Ok(chain) => put("device", Some(chain.text())),
            Err(reason) => put("device_not_seen", Some(reason.to_string())),
        }
        put("memory", self.location.memory().map(str::to_owned));
    }
}

impl Device {
    fn read(kernel: &Kernel, name: &str) -> Self {
        let folder = kernel.sys.join("class/block").join(name);
        let file = |path: &str| value(folder.join(path));
        let sectors = file("size").and_then(|sectors| sectors.parse::<u64>().ok());
        let facts = [
            ("model", file("device/model")),
            // A controller of NVMe, or a disk of SCSI.
            ("firmware", file("device/firmware_rev").or_else(|| file("device/rev"))),
            // Function of a dm or md device: `CRYPT-LUKS2`, `LVM`, `mpath`, `raid1`.
            ("layer", layer(kernel, name)),
            // Why nothing is visible below the file of a loop device.
            ("below_not_seen", unseen_below(kernel, name)),
            ("size_bytes", sectors.map(|sectors| sectors.saturating_mul(512).to_string())),
            ("scheduler", file("queue/scheduler").map(|text| chosen(&text).unwrap_or(text))),
            ("rotational", file("queue/rotational")),
            ("write_cache", file("queue/write_cache")),
            // Whether it takes forced writes (FUA).
            ("fua", file("queue/fua")),
            ("counts_flushes", Some(counts_flushes(kernel, name).to_string())),
            ("nr_requests", file("queue/nr_requests")),
            ("read_ahead_kb", file("queue/read_ahead_kb")),
            // From which latency of reads on the kernel holds buffered writes back.
            ("wbt_lat_us", file("queue/wbt_lat_usec")),
            ("logical_block_bytes", file("queue/logical_block_size")),
            ("physical_block_bytes", file("queue/physical_block_size")),
            ("numa_node", file("device/numa_node").filter(|node| node != "-1")),
        ];
        let known = facts.into_iter().filter_map(|(fact, value)| Some((fact, value?)));
        Self { name: name.to_owned(), facts: known.collect() }
    }

    pub(crate) fn fact(&self, name: &str) -> Option<&str> {
        self.facts.get(name).map(String::as_str)
    }
}

/// Layers have different sources: a dm device's uuid begins with the name of its creator, an md device has a level. A
/// loop device has its file and direct I/O flag, and a bcache its write mode.
fn layer(kernel: &Kernel, name: &str) -> Option<String> {
    let folder = kernel.sys.join("class/block").join(name);
    let dm = value(folder.join("dm/uuid")).map(|uuid| {
        let parts = if uuid.starts_with("CRYPT-") { 2 } else { 1 };
        uuid.split('-').take(parts).collect::<Vec<_>>().join("-")
    });
    let file = || {
        let how = match reads_through_page_cache(kernel, name) {
            Some(true) => ", through the page cache",
            Some(false) => ", direct",
            None => "",
        };
        backing_file(kernel, name).map(|file| format!("loop of {}{how}", file.display()))
    };
    let bcache =
        || value(folder.join("bcache/cache_mode")).map(|modes| format!("bcache, {}", chosen(&modes).unwrap_or(modes)));
    dm.or_else(|| value(folder.join("md/level"))).or_else(file).or_else(bcache)
}

/// The first place of `kept` has its name, the others are `storage2` and so on; devices have their kernel names.
pub(crate) fn facts(kept: Kept, all: &[Storage], facts: &mut Facts) {
    for (index, storage) in all.iter().enumerate() {
        let key = kept.key();
        let prefix = if index == 0 { key.to_owned() } else { format!("{key}{}", index + 1) };
        storage.facts(&prefix, facts);
        for Device { name, facts: known } in &storage.devices {
            facts.extend(known.iter().map(|(fact, value)| (format!("device.{name}.{fact}"), value.clone())));
        }
    }
}
