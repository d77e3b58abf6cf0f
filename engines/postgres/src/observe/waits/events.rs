//! Wait events of PostgreSQL 15 to 18 by their class.

use mindful_core::contract::wait::WaitClass::{Contention, Cpu, Idle, Log, Other, Read, Server, Writer};
use mindful_core::contract::wait::WaitEvent;

const CPU: WaitEvent = WaitEvent::new(Cpu, "cpu");

/// Not a session: counted once a sample in which any autovacuum worker was there.
pub(super) const AUTOVACUUM: WaitEvent = WaitEvent::new(Server, "autovacuum");

/// Each other session that is at work in a sample.
pub(super) const OTHERS: WaitEvent = WaitEvent::new(Server, "others");

/// Type and name of an event on the server, and the metric that counts it: class and name.
///
/// Names are compared without case: `WALSync` became `WalSync` in 17. A lock's own name ends in `Lock` if an I/O event
/// has the same.
const EVENTS: &[(&str, &str, WaitEvent)] = &[
    ("IO", "DataFileRead", WaitEvent::new(Read, "DataFileRead")),
    ("IO", "DataFilePrefetch", WaitEvent::new(Read, "DataFilePrefetch")),
    ("IO", "AioIoCompletion", WaitEvent::new(Read, "AioIoCompletion")),
    ("IO", "AioIoUringExecution", WaitEvent::new(Read, "AioIoUringExecution")),
    ("IO", "AioIoUringSubmit", WaitEvent::new(Read, "AioIoUringSubmit")),
    ("IO", "WalWrite", WaitEvent::new(Log, "WalWrite")),
    ("IO", "WalSync", WaitEvent::log_sync("WalSync")),
    ("IO", "WalInitWrite", WaitEvent::new(Log, "WalInitWrite")),
    ("IO", "WalInitSync", WaitEvent::new(Log, "WalInitSync")),
    ("LWLock", "WALWrite", WaitEvent::new(Log, "WALWriteLock")),
    ("LWLock", "WALInsert", WaitEvent::new(Log, "WALInsertLock")),
    ("LWLock", "WALBufMapping", WaitEvent::new(Log, "WALBufMappingLock")),
    ("IPC", "SyncRep", WaitEvent::new(Log, "SyncRep")),
    ("IO", "DataFileWrite", WaitEvent::new(Writer, "DataFileWrite")),
    ("IO", "DataFileFlush", WaitEvent::new(Writer, "DataFileFlush")),
    ("IO", "DataFileSync", WaitEvent::new(Writer, "DataFileSync")),
    ("IO", "DataFileExtend", WaitEvent::new(Writer, "DataFileExtend")),
    ("LWLock", "CheckpointerComm", WaitEvent::new(Writer, "CheckpointerCommLock")),
    ("Lock", "transactionid", WaitEvent::new(Contention, "transactionid")),
    ("Lock", "tuple", WaitEvent::new(Contention, "tuple")),
    ("Lock", "relation", WaitEvent::new(Contention, "relation")),
    ("Lock", "extend", WaitEvent::new(Contention, "extend")),
    ("Lock", "virtualxid", WaitEvent::new(Contention, "virtualxid")),
    // Another session reads or writes the very block.
    ("IPC", "BufferIo", WaitEvent::new(Contention, "BufferIo")),
    ("IPC", "ProcarrayGroupUpdate", WaitEvent::new(Contention, "ProcarrayGroupUpdate")),
    ("IPC", "XactGroupUpdate", WaitEvent::new(Contention, "XactGroupUpdate")),
    ("BufferPin", "BufferPin", WaitEvent::new(Contention, "BufferPin")),
    ("LWLock", "BufferContent", WaitEvent::new(Contention, "BufferContentLock")),
    ("LWLock", "BufferMapping", WaitEvent::latch("BufferMappingLock")),
    ("LWLock", "LockManager", WaitEvent::latch("LockManagerLock")),
    ("LWLock", "ProcArray", WaitEvent::latch("ProcArrayLock")),
    ("LWLock", "XidGen", WaitEvent::latch("XidGenLock")),
    ("Timeout", "SpinDelay", WaitEvent::latch("SpinDelay")),
    ("Client", "ClientRead", WaitEvent::new(Idle, "ClientRead")),
    // The pauses of a workload, and the wait for a slice to begin.
    ("Timeout", "PgSleep", WaitEvent::new(Idle, "PgSleep")),
    ("Client", "ClientWrite", WaitEvent::new(Other, "ClientWrite")),
];

const TYPES: &[(&str, WaitEvent)] = &[
    ("Lock", WaitEvent::new(Contention, "Lock")),
    ("LWLock", WaitEvent::latch("LWLock")),
    ("IO", WaitEvent::new(Other, "IO")),
    ("IPC", WaitEvent::new(Other, "IPC")),
    ("Timeout", WaitEvent::new(Other, "Timeout")),
];

/// Where everything else is counted, such as the events of extensions.
const OTHER: WaitEvent = WaitEvent::new(Other, "other");

pub(super) fn metrics() -> impl Iterator<Item = WaitEvent> {
    let listed = EVENTS.iter().map(|(.., metric)| *metric);
    std::iter::once(CPU).chain(listed).chain(TYPES.iter().map(|(_, metric)| *metric)).chain([OTHER, AUTOVACUUM, OTHERS])
}

pub(super) fn metric_of(event: Option<(&str, &str)>) -> WaitEvent {
    let Some((kind, name)) = event else { return CPU };
    let listed = EVENTS.iter().find(|(of, event, _)| *of == kind && event.eq_ignore_ascii_case(name));
    let by_type = || TYPES.iter().find(|(of, _)| *of == kind).map(|(_, metric)| *metric);
    listed.map(|(.., metric)| *metric).or_else(by_type).unwrap_or(OTHER)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use mindful_core::contract::metric::Counter;

    use super::*;

    #[test]
    fn every_metric_is_named_once() {
        let names: Vec<_> = metrics().map(|event| event.to_string()).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
        assert_eq!(AUTOVACUUM.to_string(), Counter::MaintenanceSamples.name());
        assert_eq!(OTHERS.to_string(), Counter::OthersSamples.name());
    }

    #[test]
    fn an_event_is_the_same_in_the_spelling_of_any_version() {
        assert_eq!(metric_of(Some(("IO", "WALSync"))), metric_of(Some(("IO", "WalSync"))));
        assert_eq!(metric_of(Some(("IPC", "BufferIO"))), WaitEvent::new(Contention, "BufferIo"));
        assert_ne!(metric_of(Some(("IO", "WALWrite"))), metric_of(Some(("LWLock", "WALWrite"))));
    }

    #[test]
    fn every_event_of_the_server_is_counted() {
        let known: BTreeSet<_> = metrics().collect();
        for event in [None, Some(("IO", "SlruRead")), Some(("Lock", "advisory")), Some(("Extension", "Mine"))] {
            assert!(known.contains(&metric_of(event)), "{event:?}");
        }
    }
}
