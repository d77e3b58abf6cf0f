//! Keys of facts that more than one crate speaks of: the crate that finds a fact and the crates that judge by it share the type.
//!
//! A run stores its facts as text under these keys, among others that only one crate knows. A target's facts also hold, under
//! a key of their own, the settings that mindful chose for a private server.

use std::collections::BTreeMap;

/// A fact about a host or its storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    /// Model of the CPUs.
    CpuModel,
    /// CPUs that the kernel schedules on.
    CpuCount,
    /// Cores of all sockets.
    CpuCores,
    /// Sockets.
    CpuSockets,
    /// CPUs that mindful itself may use.
    CpusAllowed,
    /// Memory of the host, bytes.
    MemoryBytes,
    /// Release of the kernel, as `uname -r` prints it.
    KernelRelease,
    /// Name of the host.
    HostName,
    /// The folder that holds the data.
    StoragePath,
    /// The folder that holds the log.
    LogPath,
    /// The block devices below the file system of the data, the uppermost first: `dm-0 < sda`.
    StorageDevice,
    /// Why the device of the data is not known.
    StorageDeviceNotSeen,
    /// Kind of the file system that holds the data.
    StorageFilesystem,
    /// Share of the dataset's files that was never written, 0 to 1.
    HolesShare,
    /// Zone of the cloud that the host is in.
    CloudZone,
}

impl Fact {
    /// The key it is stored under.
    pub const fn key(self) -> &'static str {
        match self {
            Self::CpuModel => "cpu.model",
            Self::CpuCount => "cpu.count",
            Self::CpuCores => "cpu.cores",
            Self::CpuSockets => "cpu.sockets",
            Self::CpusAllowed => "client.cpus_allowed",
            Self::MemoryBytes => "memory.bytes",
            Self::KernelRelease => "kernel.release",
            Self::HostName => "host.name",
            Self::StoragePath => "storage.path",
            Self::LogPath => "log.path",
            Self::StorageDevice => "storage.device",
            Self::StorageDeviceNotSeen => "storage.device_not_seen",
            Self::StorageFilesystem => "storage.filesystem",
            Self::HolesShare => "data.holes_share",
            Self::CloudZone => "cloud.zone",
        }
    }

    /// Its text among `facts`, where it is known.
    pub fn find(self, facts: &BTreeMap<String, String>) -> Option<&String> {
        facts.get(self.key())
    }
}

impl From<Fact> for String {
    fn from(fact: Fact) -> Self {
        fact.key().to_owned()
    }
}

/// What the server keeps at a place on storage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// The dataset, which is read.
    Dataset,
    /// The log, to which commits wait.
    Log,
}

impl Kept {
    /// What the keys of facts about its first place begin with; those of others have a number behind it, from 2 on.
    pub fn key(self) -> &'static str {
        let path = match self {
            Self::Dataset => Fact::StoragePath,
            Self::Log => Fact::LogPath,
        };
        path.key().split('.').next().unwrap_or_default()
    }
}

const CHOSEN: &str = "chosen ";

/// The key under which a target tells why mindful chose the value of `setting`.
pub fn chosen_key(setting: &str) -> String {
    format!("{CHOSEN}{setting}")
}

/// The setting that the fact under `key` gives the reason of; `None` for a fact of another kind.
pub fn chosen_setting(key: &str) -> Option<&str> {
    key.strip_prefix(CHOSEN)
}
