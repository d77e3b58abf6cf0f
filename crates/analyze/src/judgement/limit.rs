//! Possible limits of a step.

use mindful_core::contract::description::Words;
use mindful_core::stored_names;

stored_names! {
    pub enum Limit {
        /// mindful itself.
        Client = "the client",
        /// CPU used by neither the server nor mindful.
        OthersCpu = "CPU that others used",
        /// Time in which sessions stood still.
        Stall = "a stall",
        /// CPU of the host or of the server.
        Cpu = "CPU",
        /// Redo, WAL, commits.
        Log = "redo or commit",
        /// The volume of the log is at its limit.
        LogVolume = "log volume",
        /// The time a sync of the log takes.
        SyncLatency = "sync latency",
        /// Each sync carries as many commits as sessions can offer it.
        GroupCommit = "group commit full",
        /// The processes that write dirty blocks.
        Writers = "writers",
        /// Sessions in each other's way.
        Contention = "contention",
        /// The device is at its limit for any number of requests.
        DeviceCap = "a device cap",
        /// The time a read takes.
        DeviceLatency = "device latency",
        /// The page cache serves reads before the storage.
        PageCache = "the page cache",
        /// No single limit is clear.
        Undecided = "undecided",
    }
}

impl Limit {
    /// The name with the system's own word for its log: `WAL or commit`, `WAL volume`.
    pub fn called(self, words: &Words) -> String {
        let log = &words.log;
        match self {
            Self::Log => format!("{log} or commit"),
            Self::LogVolume => format!("{log} volume"),
            Self::SyncLatency => format!("{log} sync latency"),
            Self::GroupCommit => format!("{log} group commit full"),
            limit => limit.name().to_owned(),
        }
    }

    /// Whether it is a part of the waits of commits.
    pub const fn is_of_log(self) -> bool {
        matches!(self, Self::Log | Self::LogVolume | Self::SyncLatency | Self::GroupCommit)
    }

    /// The limit of that [`name`](Self::name).
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|limit| limit.name() == name)
    }
}
