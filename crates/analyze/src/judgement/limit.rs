//! Possible limits of a step.

use mindful_core::contract::description::Words;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Limit {
    /// mindful itself.
    Client,
    /// CPU used by neither the server nor mindful.
    OthersCpu,
    /// Time in which sessions stood still.
    Stall,
    /// CPU of the host or of the server.
    Cpu,
    /// Redo, WAL, commits.
    Log,
    /// The volume of the log is at its limit.
    LogVolume,
    /// The time a sync of the log takes.
    SyncLatency,
    /// Each sync carries as many commits as sessions can offer it.
    GroupCommit,
    /// The processes that write dirty blocks.
    Writers,
    /// Sessions in each other's way.
    Contention,
    /// The device is at its limit for any number of requests.
    DeviceCap,
    /// The time a read takes.
    DeviceLatency,
    /// The page cache serves reads before the storage.
    PageCache,
    /// No single limit is clear.
    Undecided,
}

impl Limit {
    pub const ALL: [Self; 14] = [
        Self::Client,
        Self::OthersCpu,
        Self::Stall,
        Self::Cpu,
        Self::Log,
        Self::LogVolume,
        Self::SyncLatency,
        Self::GroupCommit,
        Self::Writers,
        Self::Contention,
        Self::DeviceCap,
        Self::DeviceLatency,
        Self::PageCache,
        Self::Undecided,
    ];

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

    /// The name that programs read, of every engine the same.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Client => "the client",
            Self::OthersCpu => "CPU that others used",
            Self::Stall => "a stall",
            Self::Cpu => "CPU",
            Self::Log => "redo or commit",
            Self::LogVolume => "log volume",
            Self::SyncLatency => "sync latency",
            Self::GroupCommit => "group commit full",
            Self::Writers => "writers",
            Self::Contention => "contention",
            Self::DeviceCap => "a device cap",
            Self::DeviceLatency => "device latency",
            Self::PageCache => "the page cache",
            Self::Undecided => "undecided",
        }
    }
}
