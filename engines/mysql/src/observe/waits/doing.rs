//! The activity of a session, by the class of its wait.

use mindful_core::contract::wait::WaitClass::{Contention, Cpu, Idle, Log, Other, Read, Server, Writer};
use mindful_core::contract::wait::WaitEvent;

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Doing {
    /// Its command; `Sleep` if it is idle.
    pub command: String,
    pub state: String,
    /// The current wait in the performance schema, and the operation there.
    pub wait: Option<(String, String)>,
    pub thread: Option<Thread>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Thread {
    /// On a CPU, or waiting for one.
    Runs,
    AtStorage,
    AtLatch,
    /// Its statement has ended since the process list was read.
    AtClient,
    Sleeps,
}

const CPU: WaitEvent = WaitEvent::new(Cpu, "cpu");
const READ: WaitEvent = WaitEvent::new(Read, "data_file");
const COMMIT: WaitEvent = WaitEvent::new(Log, "commit");
/// The leader of a group commit; the others wait for it.
const COMMIT_SYNC: WaitEvent = WaitEvent::log_sync("commit");
const LOG_FILE: WaitEvent = WaitEvent::new(Log, "log_file");
const LOG_FILE_SYNC: WaitEvent = WaitEvent::log_sync("log_file");
const LOG_LATCH: WaitEvent = WaitEvent::new(Log, "log_latch");
const BINLOG: WaitEvent = WaitEvent::new(Log, "binlog");
const WRITE: WaitEvent = WaitEvent::new(Writer, "data_file");
const LATCH: WaitEvent = WaitEvent::latch("latch");
/// For another thread of the server, from the kernel: one that writes or reads the page, purges, or is a session.
pub(super) const OTHER_THREAD: WaitEvent = WaitEvent::new(Other, "other_thread");
/// Of a page that another session reads or changes: held over a read of storage, too.
const PAGE_LATCH: WaitEvent = WaitEvent::new(Contention, "page_latch");
const CONDITION: WaitEvent = WaitEvent::new(Contention, "condition");
pub(super) const LOCK: WaitEvent = WaitEvent::new(Contention, "lock");
const SOCKET: WaitEvent = WaitEvent::new(Other, "socket");
const FILE: WaitEvent = WaitEvent::new(Other, "file");
const OTHER: WaitEvent = WaitEvent::new(Other, "other");
pub(super) const SLEEP: WaitEvent = WaitEvent::new(Idle, "sleep");
/// Not ours: each other session that is at work in a sample.
pub(super) const OTHERS: WaitEvent = WaitEvent::new(Server, "others");

pub(super) const ALL: [WaitEvent; 19] = [
    CPU,
    READ,
    COMMIT,
    COMMIT_SYNC,
    LOG_FILE,
    LOG_FILE_SYNC,
    LOG_LATCH,
    BINLOG,
    WRITE,
    LATCH,
    PAGE_LATCH,
    CONDITION,
    LOCK,
    SOCKET,
    FILE,
    OTHER,
    SLEEP,
    OTHERS,
    OTHER_THREAD,
];

/// How the states of a session that commits begin, in lower case. From 10.10 on, MariaDB ends a statement before its log
/// is durable, and waits for that in the state after it.
const COMMITS: [&str; 4] =
    ["commit", "waiting for handler commit", "waiting for prior transaction to commit", "updating status"];

pub(super) fn event_of(doing: &Doing) -> WaitEvent {
    let state = doing.state.to_lowercase();
    if doing.command == "Sleep" || state == "user sleep" {
        return SLEEP;
    }
    if let Some(event) = doing.wait.as_ref().and_then(|(name, operation)| event_of_wait(name, operation)) {
        return event;
    }
    let commits = COMMITS.iter().any(|begin| state.starts_with(begin));
    // A session without a wait is on a CPU or waits for one.
    match doing.thread.unwrap_or(if commits { Thread::Sleeps } else { Thread::Runs }) {
        Thread::Runs => CPU,
        Thread::AtClient => SLEEP,
        Thread::AtStorage if commits => COMMIT_SYNC,
        _ if commits => COMMIT,
        Thread::AtStorage => READ,
        Thread::AtLatch => OTHER_THREAD,
        Thread::Sleeps => OTHER,
    }
}

/// Corrects `events` by the server's number of sessions that wait for a row lock: in the kernel these sleep like
/// waiters for any thread.
pub(super) fn tell_row_locks(mut events: Vec<WaitEvent>, waiting: f64) -> Vec<WaitEvent> {
    let asleep = events.iter_mut().filter(|event| **event == OTHER_THREAD);
    asleep.take(waiting as usize).for_each(|event| *event = LOCK);
    events
}

/// The class of a wait of the performance schema; `None` for one that contains others, such as a wait for a table.
fn event_of_wait(name: &str, operation: &str) -> Option<WaitEvent> {
    let of = |part: &str| name.starts_with(part);
    Some(match name {
        "idle" => SLEEP,
        "wait/io/file/innodb/innodb_data_file" if operation == "read" => READ,
        "wait/io/file/innodb/innodb_data_file" | "wait/io/file/innodb/innodb_dblwr_file" => WRITE,
        "wait/io/file/innodb/innodb_log_file" if operation == "sync" => LOG_FILE_SYNC,
        "wait/io/file/innodb/innodb_log_file" => LOG_FILE,
        _ if name.contains("binlog") || name.contains("BIN_LOG") => BINLOG,
        _ if of("wait/synch/") && name.contains("/innodb/log_") => LOG_LATCH,
        _ if of("wait/synch/cond/") => CONDITION,
        _ if of("wait/synch/") && name.contains("block_lock") => PAGE_LATCH,
        _ if of("wait/synch/") => LATCH,
        _ if of("wait/lock/") => LOCK,
        _ if of("wait/io/socket/") => SOCKET,
        _ if of("wait/io/file/") => FILE,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use mindful_core::contract::metric::Counter;

    use super::*;

    fn executing(state: &str, thread: Option<Thread>) -> Doing {
        Doing { command: "Execute".to_owned(), state: state.to_owned(), thread, ..Doing::default() }
    }

    #[test]
    fn the_kernel_shows_waits_that_the_process_list_hides() {
        assert_eq!(event_of(&executing("Sending data", Some(Thread::Runs))), CPU);
        assert_eq!(event_of(&executing("Sending data", Some(Thread::AtStorage))), READ);
        assert_eq!(event_of(&executing("Updating", Some(Thread::AtLatch))), OTHER_THREAD);
        for state in ["Commit", "waiting for handler commit", "Updating status"] {
            assert_eq!(event_of(&executing(state, Some(Thread::AtStorage))), COMMIT_SYNC);
            assert_eq!(event_of(&executing(state, Some(Thread::AtLatch))), COMMIT);
            assert_eq!(event_of(&executing(state, Some(Thread::Runs))), CPU);
        }
        let idle = Doing { command: "Sleep".to_owned(), ..executing("", Some(Thread::AtLatch)) };
        assert_eq!(event_of(&idle), SLEEP);
        assert_eq!(event_of(&executing("Updating status", Some(Thread::AtClient))), SLEEP);
    }

    #[test]
    fn a_wait_of_the_performance_schema_is_believed_first() {
        let at = |name: &str, operation: &str| {
            let wait = Some((name.to_owned(), operation.to_owned()));
            event_of(&Doing { wait, ..executing("Sending data", None) })
        };
        assert_eq!(at("wait/io/file/innodb/innodb_data_file", "read"), READ);
        assert_eq!(at("wait/io/file/innodb/innodb_data_file", "sync"), WRITE);
        assert_eq!(at("wait/io/file/innodb/innodb_log_file", "sync"), LOG_FILE_SYNC);
        assert_eq!(at("wait/io/file/innodb/innodb_log_file", "write"), LOG_FILE);
        assert_eq!(at("wait/synch/mutex/innodb/log_writer_mutex", "lock"), LOG_LATCH);
        assert_eq!(at("wait/synch/mutex/sql/MYSQL_BIN_LOG::LOCK_log", "lock"), BINLOG);
        assert_eq!(at("wait/lock/metadata/sql/mdl", "metadata lock"), LOCK);
        assert_eq!(at("wait/synch/mutex/innodb/buf_pool_mutex", "lock"), LATCH);
        assert_eq!(at("wait/synch/sxlock/innodb/buf_block_lock", "shared_lock"), PAGE_LATCH);
        assert_eq!(at("wait/synch/cond/sql/MDL_context::COND_wait_status", "timed_wait"), CONDITION);
        // A table is waited for while its pages are: a state without a name is CPU.
        assert_eq!(at("wait/io/table/sql/handler", "fetch"), CPU);
    }

    #[test]
    fn waits_for_rows_are_distinguished_from_those_for_threads() {
        let with_waiting =
            |waiting: f64| tell_row_locks(vec![CPU, OTHER_THREAD, READ, OTHER_THREAD, OTHER_THREAD], waiting);
        assert_eq!(with_waiting(2.0), [CPU, LOCK, READ, LOCK, OTHER_THREAD]);
        assert_eq!(
            (with_waiting(0.0)[1], with_waiting(9.0)[4], with_waiting(f64::NAN)[1]),
            (OTHER_THREAD, LOCK, OTHER_THREAD)
        );
    }

    #[test]
    fn whatever_a_session_is_at_is_counted_somewhere() {
        assert_eq!(OTHERS.to_string(), Counter::OthersSamples.name());
        let threads = [None, Some(Thread::Runs), Some(Thread::AtStorage), Some(Thread::AtLatch), Some(Thread::Sleeps)];
        for thread in threads {
            for state in ["", "Commit", "Waiting for table metadata lock", "User sleep"] {
                assert!(ALL.contains(&event_of(&executing(state, thread))));
            }
        }
    }
}
