//! Keys of facts that several crates use: the crate that finds a fact and the crates that judge by it share the type.
//!
//! A run stores its facts as text under these keys, next to facts that a single crate uses. A target's facts also
//! contain the settings that mindful chose for a private server, under a key of their own.

use std::collections::BTreeMap;

stored_names! {
    /// A fact about a host or its storage.
    pub enum Fact {
        /// Model of the CPUs.
        CpuModel = "cpu.model",
        /// CPUs that the kernel schedules on.
        CpuCount = "cpu.count",
        /// Cores of all sockets.
        CpuCores = "cpu.cores",
        /// Sockets.
        CpuSockets = "cpu.sockets",
        /// CPUs that mindful itself may use.
        CpusAllowed = "client.cpus_allowed",
        /// Memory of the host, bytes.
        MemoryBytes = "memory.bytes",
        /// Release of the kernel, as `uname -r` prints it.
        KernelRelease = "kernel.release",
        /// Name of the host.
        HostName = "host.name",
        /// The folder that holds the data.
        StoragePath = "storage.path",
        /// The folder that holds the log.
        LogPath = "log.path",
        /// The block devices below the file system of the data, the uppermost first: `dm-0 < sda`.
        StorageDevice = "storage.device",
        /// Why the device of the data is not known.
        StorageDeviceNotSeen = "storage.device_not_seen",
        /// Kind of the file system that holds the data.
        StorageFilesystem = "storage.filesystem",
        /// The block devices below the file system of the log, the uppermost first.
        LogDevice = "log.device",
        /// Why the device of the log is not known.
        LogDeviceNotSeen = "log.device_not_seen",
        /// Kind of the file system that holds the log.
        LogFilesystem = "log.filesystem",
        /// Share of the dataset's files that was never written, 0 to 1.
        HolesShare = "data.holes_share",
        /// Microcode of the CPUs.
        CpuMicrocode = "cpu.microcode",
        /// CPU vulnerabilities that the kernel mitigates, and those that it leaves open.
        CpuMitigations = "cpu.mitigations",
        /// Maker of the machine, from DMI.
        MachineVendor = "machine.vendor",
        /// The machine's product name, from DMI.
        MachineProduct = "machine.product",
        /// The hypervisor of the host.
        Virtualization = "virtualization",
        /// Name of the operating system.
        SystemName = "os.name",
        /// The cloud that the machine belongs to, from DMI.
        Cloud = "cloud.name",
        /// Source of the other cloud facts.
        CloudSource = "cloud.source",
        /// Why the cloud's service stated nothing.
        CloudNotStated = "cloud.not_stated",
        /// Type of the machine, as the cloud calls it.
        CloudMachineType = "cloud.machine_type",
        /// Zone of the cloud that the host is in.
        CloudZone = "cloud.zone",
        /// Image that the machine was started from.
        CloudImage = "cloud.image",
        /// SHA-256 of the mindful binary that measured.
        BinaryHash = "mindful.sha256",
    }
}

impl Fact {
    /// Its text among `facts`, if known.
    pub fn find(self, facts: &BTreeMap<String, String>) -> Option<&String> {
        facts.get(self.name())
    }

    /// The fact about mindful's own host, if the server runs on another one.
    pub fn find_of_client(self, facts: &BTreeMap<String, String>) -> Option<&String> {
        facts.get(&format!("{CLIENT}{}", self.name()))
    }
}

/// Prefix of the keys of facts about mindful's own host, if the server runs on another one.
pub const CLIENT: &str = "client.";

/// Whether the fact under `key` is about the cloud that a host belongs to.
pub fn is_of_cloud(key: &str) -> bool {
    key.strip_prefix(CLIENT).unwrap_or(key).starts_with("cloud.")
}

stored_names! {
    /// A fact about a block device, by its key without the device.
    pub enum DeviceFact {
        /// The model that the device reports.
        Model = "device.model",
        /// Version of the firmware.
        Firmware = "device.firmware",
        /// Size of the device, bytes.
        SizeBytes = "device.size_bytes",
        /// The cloud's name of the volume.
        Volume = "cloud.device.volume",
        /// Type of the volume, as the cloud calls it.
        VolumeType = "cloud.device.type",
        /// Size that the cloud states, bytes.
        VolumeBytes = "cloud.device.size_bytes",
        /// Requests a second that the volume was provisioned for.
        VolumeIops = "cloud.device.iops",
        /// Bytes a second that the volume was provisioned for.
        VolumeBytesPerS = "cloud.device.bytes_per_s",
        /// Source of the facts about the volume.
        VolumeSource = "cloud.device.source",
    }
}

impl DeviceFact {
    /// The key it is stored under for `device`.
    pub fn key(self, device: &str) -> String {
        let (kind, name) = self.name().rsplit_once('.').unwrap_or_default();
        format!("{kind}.{device}.{name}")
    }

    /// Its text among `facts`, if known.
    pub fn find<'a>(self, device: &str, facts: &'a BTreeMap<String, String>) -> Option<&'a String> {
        facts.get(&self.key(device))
    }
}

/// Contents of a server's place on storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// The dataset, which is read.
    Dataset,
    /// The log, to which commits wait.
    Log,
}

impl Kept {
    /// The prefix of the keys of facts about its first place; other places add a number from 2 on.
    pub fn key(self) -> &'static str {
        let path = match self {
            Self::Dataset => Fact::StoragePath,
            Self::Log => Fact::LogPath,
        };
        path.name().split('.').next().unwrap_or_default()
    }
}

const CHOSEN: &str = "chosen ";

/// The key under which a target explains why mindful chose the value of `setting`.
pub fn chosen_key(setting: &str) -> String {
    format!("{CHOSEN}{setting}")
}

/// The setting that the fact under `key` explains; `None` for other facts.
pub fn chosen_setting(key: &str) -> Option<&str> {
    key.strip_prefix(CHOSEN)
}
