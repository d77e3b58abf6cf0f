//! Waits of busy sessions, and the names of their counters.

use std::fmt;

use crate::contract::description::Words;

/// Name of the source that counts samples of wait events.
pub const SAMPLES: &str = "waits";
/// Name of the source that counts samples of single sessions, by class.
pub const BY_SESSION: &str = "session_waits";
/// Name of the source that adds up times of wait events, us.
pub const TIMES: &str = "wait_times";

stored_names! {
    /// Activity of a session, or of another process of the server, by the name used in every report.
    pub enum WaitClass {
        /// On a CPU, or waiting for one.
        Cpu = "CPU or run queue",
        /// Waiting for a read.
        Read = "reads",
        /// Waiting for redo, WAL, a commit.
        Log = "log",
        /// Waiting for a free buffer, or writing one out itself.
        Writer = "free buffers",
        /// Waiting for another session: locks, latches, a block that another one reads.
        Contention = "locks and latches",
        /// Anything else a busy session waits for.
        Other = "other waits",
        /// A session that has nothing to do: it waits for its client, or for its slice to begin.
        Idle = "idle",
        /// A process of the server, not a session.
        Server = "the server itself",
    }
}

impl WaitClass {
    /// The classes of a busy session, which add up to database time.
    pub const BUSY: [Self; 6] = [Self::Cpu, Self::Read, Self::Log, Self::Writer, Self::Contention, Self::Other];

    /// The name in the system's own words.
    pub fn name_in(self, words: &Words) -> &str {
        if self == Self::Log { &words.log } else { self.name() }
    }

    /// The name of the counter of `event` under this class: `read/DataFileRead`.
    pub fn counter_name(self, event: &str) -> String {
        format!("{}/{event}", self.key())
    }

    const fn key(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::Read => "read",
            Self::Log => "log",
            Self::Writer => "writer",
            Self::Contention => "contention",
            Self::Other => "other",
            Self::Idle => "idle",
            Self::Server => "server",
        }
    }

    /// The class of the counter called `metric`; [`WaitClass::Other`] if unknown.
    pub fn from_counter(metric: &str) -> Self {
        let key = metric.split('/').next().unwrap_or(metric);
        match key {
            LATCH => return Self::Contention,
            LOG_SYNC => return Self::Log,
            _ => {}
        }
        Self::ALL.into_iter().find(|class| class.key() == key).unwrap_or(Self::Other)
    }

    /// Whether it is a part of database time.
    pub fn is_busy(self) -> bool {
        Self::BUSY.contains(&self)
    }
}

/// The first part of the name of a counter of latches. A latch is held for a moment, and never during a wait for
/// storage, a client or a commit. Its waiter waits for a holder that is on a CPU, or was taken off it.
const LATCH: &str = "latch";

/// Whether the counter called `metric` is of a latch.
pub fn is_latch(metric: &str) -> bool {
    metric.split_once('/').is_some_and(|(key, _)| key == LATCH)
}

/// The first part of the name of a counter of syncs of the log: of one session at a time, while others wait for it.
const LOG_SYNC: &str = "log_sync";

/// Whether the counter called `metric` is of syncs of the log.
pub fn is_log_sync(metric: &str) -> bool {
    metric.split_once('/').is_some_and(|(key, _)| key == LOG_SYNC)
}

/// A wait event under its class; shown as the name of its counter, `read/DataFileRead`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct WaitEvent {
    /// The class that it belongs to.
    pub class: WaitClass,
    /// The server's name of it.
    pub event: &'static str,
    key: &'static str,
}

impl WaitEvent {
    /// The event of that name.
    pub const fn new(class: WaitClass, event: &'static str) -> Self {
        Self { class, event, key: class.key() }
    }

    /// The latch of that name: contention for a moment.
    pub const fn latch(event: &'static str) -> Self {
        Self { class: WaitClass::Contention, event, key: LATCH }
    }

    /// The sync of the log of that name.
    pub const fn log_sync(event: &'static str) -> Self {
        Self { class: WaitClass::Log, event, key: LOG_SYNC }
    }
}

impl fmt::Display for WaitEvent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.key, self.event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_is_found_again_in_the_name_of_its_counters() {
        for class in WaitClass::ALL {
            assert_eq!(WaitClass::from_counter(&WaitEvent::new(class, "Event").to_string()), class);
        }
        assert_eq!(WaitClass::from_counter("unheard-of/Event"), WaitClass::Other);
        let (latch, lock) =
            (WaitEvent::latch("Map").to_string(), WaitEvent::new(WaitClass::Contention, "Row").to_string());
        assert_eq!(WaitClass::from_counter(&latch), WaitClass::Contention);
        assert!(is_latch(&latch) && !is_latch(&lock) && !is_latch("latch"));
        let sync = WaitEvent::log_sync("Sync").to_string();
        assert_eq!(WaitClass::from_counter(&sync), WaitClass::Log);
        assert!(is_log_sync(&sync) && !is_log_sync(&latch));
        assert!(!WaitClass::Idle.is_busy() && !WaitClass::Server.is_busy());
    }
}
