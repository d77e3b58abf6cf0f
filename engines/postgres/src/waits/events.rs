//! Wait events of PostgreSQL 15 to 18 by what a session loses to them.

use mindful_core::metric::shared;

/// A session without a wait event is on a CPU or waits for one.
const CPU: &str = "cpu/cpu";

/// Not a session: counted once a sample in which any autovacuum worker was there.
pub const AUTOVACUUM: &str = shared::MAINTENANCE_SAMPLES.name();

/// Type and name of an event as the server tells them, and the metric that counts it: class and name.
///
/// Names are compared without case: 17 spells `WalSync` what was `WALSync` before. A lock's own name ends in `Lock`
/// where an I/O event has the same.
const EVENTS: &[(&str, &str, &str)] = &[
    ("IO", "DataFileRead", "read/DataFileRead"),
    ("IO", "DataFilePrefetch", "read/DataFilePrefetch"),
    ("IO", "AioIoCompletion", "read/AioIoCompletion"),
    ("IO", "AioIoUringExecution", "read/AioIoUringExecution"),
    ("IO", "AioIoUringSubmit", "read/AioIoUringSubmit"),
    ("IO", "WalWrite", "log/WalWrite"),
    ("IO", "WalSync", "log/WalSync"),
    ("IO", "WalInitWrite", "log/WalInitWrite"),
    ("IO", "WalInitSync", "log/WalInitSync"),
    ("LWLock", "WALWrite", "log/WALWriteLock"),
    ("LWLock", "WALInsert", "log/WALInsertLock"),
    ("LWLock", "WALBufMapping", "log/WALBufMappingLock"),
    ("IPC", "SyncRep", "log/SyncRep"),
    ("IO", "DataFileWrite", "writer/DataFileWrite"),
    ("IO", "DataFileFlush", "writer/DataFileFlush"),
    ("IO", "DataFileSync", "writer/DataFileSync"),
    ("IO", "DataFileExtend", "writer/DataFileExtend"),
    ("LWLock", "CheckpointerComm", "writer/CheckpointerCommLock"),
    ("Lock", "transactionid", "contention/transactionid"),
    ("Lock", "tuple", "contention/tuple"),
    ("Lock", "relation", "contention/relation"),
    ("Lock", "extend", "contention/extend"),
    ("Lock", "virtualxid", "contention/virtualxid"),
    // Another session reads or writes the very block.
    ("IPC", "BufferIo", "contention/BufferIo"),
    ("IPC", "ProcarrayGroupUpdate", "contention/ProcarrayGroupUpdate"),
    ("IPC", "XactGroupUpdate", "contention/XactGroupUpdate"),
    ("BufferPin", "BufferPin", "contention/BufferPin"),
    ("LWLock", "BufferContent", "contention/BufferContentLock"),
    ("LWLock", "BufferMapping", "contention/BufferMappingLock"),
    ("LWLock", "LockManager", "contention/LockManagerLock"),
    ("LWLock", "ProcArray", "contention/ProcArrayLock"),
    ("LWLock", "XidGen", "contention/XidGenLock"),
    ("Timeout", "SpinDelay", "contention/SpinDelay"),
    ("Client", "ClientRead", "idle/ClientRead"),
    // The pauses of a workload, and the wait for a slice to begin.
    ("Timeout", "PgSleep", "idle/PgSleep"),
    ("Client", "ClientWrite", "other/ClientWrite"),
];

/// What is not listed, by its type.
const TYPES: &[(&str, &str)] = &[
    ("Lock", "contention/Lock"),
    ("LWLock", "contention/LWLock"),
    ("IO", "other/IO"),
    ("IPC", "other/IPC"),
    ("Timeout", "other/Timeout"),
];

/// Where everything else is counted, such as the events of extensions.
const OTHER: &str = "other/other";

/// All metrics there can be, known before the first sample.
pub fn metrics() -> impl Iterator<Item = &'static str> {
    let listed = EVENTS.iter().map(|(.., metric)| *metric);
    std::iter::once(CPU).chain(listed).chain(TYPES.iter().map(|(_, metric)| *metric)).chain([OTHER, AUTOVACUUM])
}

/// The metric that counts an event.
pub fn metric_of(event: Option<(&str, &str)>) -> &'static str {
    let Some((kind, name)) = event else { return CPU };
    let listed = EVENTS.iter().find(|(of, event, _)| *of == kind && event.eq_ignore_ascii_case(name));
    let by_type = || TYPES.iter().find(|(of, _)| *of == kind).map(|(_, metric)| *metric);
    listed.map(|(.., metric)| *metric).or_else(by_type).unwrap_or(OTHER)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_metric_is_named_once_and_by_a_class() {
        let names: Vec<_> = metrics().collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len(), "{names:?}");
        let classes = ["cpu", "read", "log", "writer", "contention", "idle", "other", "server"];
        for name in names {
            let (class, event) = name.split_once('/').unwrap();
            assert!(classes.contains(&class) && !event.is_empty(), "{name}");
        }
    }

    #[test]
    fn an_event_is_the_same_in_the_spelling_of_any_version() {
        assert_eq!(metric_of(Some(("IO", "WALSync"))), metric_of(Some(("IO", "WalSync"))));
        assert_eq!(metric_of(Some(("IPC", "BufferIO"))), "contention/BufferIo");
        assert_ne!(metric_of(Some(("IO", "WALWrite"))), metric_of(Some(("LWLock", "WALWrite"))));
    }

    #[test]
    fn whatever_the_server_tells_is_counted_somewhere() {
        let known: BTreeSet<_> = metrics().collect();
        for event in [None, Some(("IO", "SlruRead")), Some(("Lock", "advisory")), Some(("Extension", "Mine"))] {
            assert!(known.contains(metric_of(event)), "{event:?}");
        }
    }
}
