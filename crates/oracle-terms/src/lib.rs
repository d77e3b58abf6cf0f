//! Oracle's names of statistics and wait events, with their meaning here. One table for the readers of reports, traces
//! and views.

use mindful_core::contract::description::Words;
use mindful_core::contract::wait::WaitClass;

pub fn words() -> Words {
    Words::new("redo", "buffer cache hits", "index and undo reads")
}

/// Names of statistics, as V$SYSSTAT and V$SESSTAT have them.
pub mod statistic {
    /// Requests to the buffer cache, blocks.
    pub const LOGICAL_READS: &str = "session logical reads";
    /// Of these, requests as of an instant.
    pub const CONSISTENT_GETS: &str = "consistent gets";
    /// Blocks read past the cache.
    pub const READS_DIRECT: &str = "physical reads direct";
    /// Blocks read before a request for them.
    pub const READS_PREFETCHED: &str = "physical reads cache prefetch";
    /// Waits for redo to be on storage, one a commit that waits.
    pub const SYNCH_WRITES: &str = "redo synch writes";
    pub const SYNCH_TIME: &str = "redo synch time (usec)";
    /// Bytes that storage cells sent after a smart scan.
    pub const CELL_SMART_BYTES: &str = "cell physical IO interconnect bytes returned by smart scan";
    pub const CELL_FLASH_HITS: &str = "cell flash cache read hits";
    pub const BLOCKS_READ: &str = "physical reads";
    pub const READ_REQUESTS: &str = "physical read IO requests";
    /// All read requests, including those of control files and backups.
    pub const ALL_READ_REQUESTS: &str = "physical read total IO requests";
    pub const ALL_READ_BYTES: &str = "physical read total bytes";
    pub const BLOCKS_WRITTEN: &str = "physical writes";
    /// Requests that wrote them, without redo.
    pub const WRITE_REQUESTS: &str = "physical write IO requests";
    /// All write requests, including those of redo.
    pub const ALL_WRITE_REQUESTS: &str = "physical write total IO requests";
    /// Bytes of all write requests, redo among them.
    pub const ALL_WRITE_BYTES: &str = "physical write total bytes";
    pub const REDO_BYTES: &str = "redo size";
    pub const REDO_WRITES: &str = "redo writes";
    pub const COMMITS: &str = "user commits";
    /// Statements executed, recursive ones among them.
    pub const EXECUTES: &str = "execute count";
    pub const LOG_SWITCHES: &str = "log switches (derived)";
}

pub mod event {
    pub const SINGLE_READ: &str = "db file sequential read";
    /// A read of neighbouring blocks into the cache.
    pub const SCATTERED_READ: &str = "db file scattered read";
    /// A read of several blocks that are not neighbours: prefetch.
    pub const PARALLEL_READ: &str = "db file parallel read";
    pub const DIRECT_READ: &str = "direct path read";
    pub const DIRECT_READ_TEMP: &str = "direct path read temp";
    pub const DIRECT_WRITE: &str = "direct path write";
    pub const DIRECT_WRITE_TEMP: &str = "direct path write temp";
    /// A batch of DBWR.
    pub const PARALLEL_WRITE: &str = "db file parallel write";
    /// A write of LGWR.
    pub const LOG_WRITE: &str = "log file parallel write";
    /// A session that waits for LGWR.
    pub const LOG_SYNC: &str = "log file sync";
    pub const LOG_READ: &str = "log file sequential read";
    pub const CPU: [&str; 2] = ["DB CPU", "CPU time"];
}

/// Beginnings of names on Exadata, and the event of other storage that they count as. Reports cut names.
const CELL: [(&str, &str); 5] = [
    ("cell single block p", event::SINGLE_READ),
    ("cell multiblock p", event::SCATTERED_READ),
    ("cell list of blocks p", event::PARALLEL_READ),
    ("cell smart table scan", event::DIRECT_READ),
    ("cell smart index scan", event::DIRECT_READ),
];

/// Names that reports cut.
const LONG: [&str; 9] = [
    "control file sequential read",
    "control file parallel write",
    "SQL*Net message from client",
    "SQL*Net message to client",
    "SQL*Net more data from client",
    "SQL*Net more data to client",
    "log file switch completion",
    "log file switch (checkpoint incomplete)",
    "log file switch (archiving needed)",
];

/// The event that `name` counts as: Exadata's reads count as reads of files.
pub fn counterpart(name: &str) -> &str {
    CELL.iter().find(|(begin, _)| name.starts_with(begin)).map_or(name, |(_, event)| event)
}

/// The whole name where `name` is one that a report cut after at least 20 letters.
pub fn whole(name: &str) -> &str {
    if name.len() < 20 {
        return name;
    }
    LONG.iter().find(|long| long.starts_with(name)).copied().unwrap_or(name)
}

pub fn class(event: &str) -> WaitClass {
    let name = counterpart(event);
    let begins = |all: &[&str]| all.iter().any(|begin| name.starts_with(begin));
    match name {
        _ if event::CPU.contains(&name) => WaitClass::Cpu,
        "read by other session" => WaitClass::Contention,
        _ if begins(&["db file sequential", "db file scattered", "db file parallel read", "direct path read"]) => {
            WaitClass::Read
        }
        _ if begins(&["cell ", "local write wait", "db file single write"]) => WaitClass::Read,
        _ if begins(&["log file", "log buffer", "LGWR", "LNS ", "ksfd: async disk IO"]) => WaitClass::Log,
        _ if begins(&["free buffer", "write complete", "db file parallel write", "direct path write"]) => {
            WaitClass::Writer
        }
        _ if begins(&["buffer busy", "gc ", "enq:", "enqueue", "latch", "library cache", "cursor:", "row cache"]) => {
            WaitClass::Contention
        }
        _ if idle(name) => WaitClass::Idle,
        _ => WaitClass::Other,
    }
}

/// Whether `event` is a wait for a latch or a mutex, which a CPU holds for a moment.
pub fn is_latch(event: &str) -> bool {
    // A pin that waits for a parse (`cursor: pin S wait on X`) is held for the whole parse.
    event.starts_with("latch") || event.contains("mutex") || event == "cursor: pin S"
}

fn idle(name: &str) -> bool {
    const IDLE: [&str; 24] = [
        "SQL*Net message from",
        "SQL*Net vector message from",
        "rdbms ipc message",
        "pmon timer",
        "smon timer",
        "lreg timer",
        "dispatcher timer",
        "DIAG idle",
        "Space Manager",
        "Streams AQ",
        "heartbeat redo informer",
        "shared server idle",
        "class slave wait",
        "jobq slave wait",
        "AQPC idle",
        "ASM background",
        "PX Deq",
        "PX Idle",
        "wait for unread message",
        "VKTM",
        "VKRM",
        "OFS idle",
        "Data Guard: ",
        "PL/SQL lock timer",
    ];
    name.contains("idle") || IDLE.iter().any(|begin| name.starts_with(begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exadata_reads_count_as_reads_of_files_however_short_cut() {
        for name in [
            "cell single block physical read",
            "cell single block physical",
            "cell single block physical read: pmem cache",
        ] {
            assert_eq!((counterpart(name), class(name)), (event::SINGLE_READ, WaitClass::Read));
        }
        assert_eq!(counterpart("cell list of blocks physic"), event::PARALLEL_READ);
        assert_eq!(counterpart("cell multiblock physical r"), event::SCATTERED_READ);
        assert_eq!(counterpart("cell smart table scan"), event::DIRECT_READ);
        assert_eq!(counterpart("direct path read temp"), event::DIRECT_READ_TEMP);
    }

    #[test]
    fn each_wait_has_its_class() {
        let cases = [
            ("DB CPU", WaitClass::Cpu),
            ("log buffer space", WaitClass::Log),
            ("log file switch (checkpoint incomplete)", WaitClass::Log),
            ("free buffer waits", WaitClass::Writer),
            ("read by other session", WaitClass::Contention),
            ("gc buffer busy acquire", WaitClass::Contention),
            ("SQL*Net message from clien", WaitClass::Idle),
            ("Disk file operations I/O", WaitClass::Other),
        ];
        for (event, class_of) in cases {
            assert_eq!(class(event), class_of, "{event}");
        }
    }

    #[test]
    fn latches_and_mutexes_are_held_for_a_moment_and_locks_are_not() {
        let of_a_moment = ["latch: cache buffers chains", "latch free", "library cache: mutex X", "cursor: mutex S"];
        for event in of_a_moment.into_iter().chain(["cursor: pin S", "row cache mutex"]) {
            assert!(is_latch(event) && class(event) == WaitClass::Contention, "{event}");
        }
        for event in ["enq: TX - row lock contention", "buffer busy waits", "cursor: pin S wait on X", "gc cr request"]
        {
            assert!(!is_latch(event), "{event}");
        }
    }

    #[test]
    fn a_name_that_was_cut_is_completed_only_where_it_is_long() {
        assert_eq!(whole("control file sequential re"), "control file sequential read");
        assert_eq!(whole("log file"), "log file");
    }
}
