//! What a target is and where it can be seen.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a target is, for the record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a record, not states of one thing")]
pub struct Description {
    /// Version of the system under test.
    pub engine_version: String,
    /// Length of a block in bytes.
    pub block_bytes: u64,
    /// Size of the database's own cache in bytes; `None` where it has none or it cannot be reported.
    pub cache_bytes: Option<u64>,
    /// Whether each session has a cache of that size to itself.
    pub cache_each_session: bool,
    /// Identifies the server while it runs; `None` if the engine does not provide it. Two targets of one server have
    /// the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// How many endpoints its URL names.
    pub endpoints: u32,
    /// Every setting that matters, by the system's own names.
    pub facts: BTreeMap<String, String>,
    /// Whether it is bare files or devices, which have no rows, no cache and no log of their own.
    pub files: bool,
    /// What a finding of the analysis means on this engine and what to do there, by the finding's code.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub advice: BTreeMap<String, String>,
    /// Which of its settings a comparison must hold fixed, and what each decides: `durability`, `direct I/O`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub held_fixed: BTreeMap<String, String>,
    /// Log that updates should write; `None` where the engine expects nothing in particular.
    pub expected_log: Option<ExpectedLog>,
    /// What a sample of the stored blocks is like, in words; `None` where none was read back.
    pub stored_blocks: Option<String>,
    /// Requests to the cache for each unit of work; `None` for [`CacheRequests::default`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_requests: Option<CacheRequests>,
    /// What reading its clock costs a session, us: its loop reads it once an operation. `None` if not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_cost_us: Option<f64>,
    /// Whether its log is made durable by forced writes (O_DSYNC) and not by syncs.
    #[serde(default)]
    pub log_by_forced_writes: bool,
    /// Settings of it under which a crash may lose or tear what was committed: `fsync = off`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsafe_settings: Vec<String>,
    /// What its engine calls what every one has.
    pub words: Words,
    /// Whether it simulates its reads: no figure of it is one of storage.
    pub simulated: bool,
    /// Why nothing is claimed of where rows lie, and so of blocks, pages and physical reads; `None` where a layout is proven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_layout: Option<String>,
    /// What every report and export of its figures has to say, such as what its licence asks; a sentence or more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// A system's own words for common things, so that a report uses the words of its administrators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    /// Its log of changes: `WAL`, `redo`.
    pub log: String,
    /// Requests that its own cache served: `buffer hits`.
    pub hits: String,
    /// What it reads for a block in addition to the block itself: `index and visibility-map reads`.
    pub beside: String,
}

impl Words {
    /// Those of a system, in the order of the fields.
    pub fn new(log: &str, hits: &str, beside: &str) -> Self {
        Self { log: log.to_owned(), hits: hits.to_owned(), beside: beside.to_owned() }
    }
}

impl Default for Words {
    fn default() -> Self {
        Self::new("log", "cache hits", "index reads")
    }
}

/// Log that an engine expects of an updated block.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExpectedLog {
    /// Least and most bytes a block with light redo.
    pub light: [f64; 2],
    /// Least and most bytes a block with heavy redo.
    pub heavy: [f64; 2],
    /// Blocks that are now and then logged whole; `None` where none are.
    pub images: Option<LogImages>,
    /// A transaction logs a block once, however often it updated it: then only operations that commit alone are predicted.
    pub once_a_transaction: bool,
}

/// Requests to its own cache that a system makes, at most, and reads and writes of blocks that updates cost besides
/// their own. A system with tables as trees requests each of their levels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CacheRequests {
    /// For a block that is visited.
    pub visited: f64,
    /// For the index, an operation.
    pub operation: f64,
    /// In addition, for a block that had to be read.
    pub missed: f64,
    /// For a block that is updated, in addition to those of its visit: what undoes the change, and what cleans up after
    /// it.
    pub updated: f64,
    /// Reads of an updated block besides those of its visit: by what cleans up after it.
    pub cleaned: f64,
    /// Writes for a block that is visited: what cleans up after its update changes it again.
    pub written: f64,
}

impl Default for CacheRequests {
    /// Those of a heap: the block itself, an index of four levels, and for an updated one the block its new version is in,
    /// the index's, and the map of free space.
    fn default() -> Self {
        Self { visited: 1.0, operation: 4.0, missed: 0.0, updated: 5.0, cleaned: 0.0, written: 1.5 }
    }
}

/// Blocks that are logged whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogImages {
    /// The target's counter of them.
    pub counter: String,
    /// Most bytes of one.
    pub bytes: f64,
}

stored_names! {
    /// What settings decide that a comparison holds fixed.
    pub enum HeldFixed {
        /// Whether what was committed survives a crash.
        Durability = "durability",
        /// Whether reads go past the page cache.
        DirectIo = "direct I/O",
        /// Which blocks lie next to each other in the cache.
        CacheOrder = "order of the cache",
    }
}

/// How far a cache holds the blocks of a working set in the order in which the tables have them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CacheFill {
    /// Blocks that were brought in, in this order.
    pub in_order: u64,
    /// Blocks of the working set.
    pub blocks: u64,
}

impl CacheFill {
    /// All of them.
    pub fn whole(blocks: u64) -> Self {
        Self { in_order: blocks, blocks }
    }

    /// Share of the working set that is in order.
    pub fn share(&self) -> f64 {
        self.in_order as f64 / self.blocks.max(1) as f64
    }

    /// Whether what is missing can change no figure by more than its noise.
    pub fn is_whole(&self) -> bool {
        self.share() >= 0.98
    }
}

/// Where the system under test can be seen on this host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct HostView {
    /// Whether it runs on this host.
    pub local: bool,
    /// The process that is the root of the server's processes; `None` if the server is inside mindful's own process.
    pub server_pid: Option<u32>,
    /// The folders and files that hold its dataset, to find their device by.
    pub data_paths: Vec<PathBuf>,
    /// Those that hold its log, to which commits wait; empty where they are not known, or where there is no log.
    #[serde(default)]
    pub log_paths: Vec<PathBuf>,
    /// Whether the log was given a folder of its own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub log_apart: bool,
    /// The engine reads in mindful's own process.
    pub in_process: bool,
    /// Whether mindful started the server: only then may it change where its processes run.
    pub private: bool,
}

/// How a kind of operation will be carried out, found before the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessPath {
    /// Which statement: `select`, `update`, `scan`.
    pub kind: String,
    /// The access path in a few words: `Index Scan using blocks_1_k on blocks_1`.
    pub shape: String,
    /// Whether it is the one the method asks for.
    pub pure: bool,
    /// The system's own text.
    pub detail: String,
    /// Settings of the system, by name, that cannot matter for what is read this way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub idle_settings: Vec<String>,
}

impl AccessPath {
    /// One for which each setting may matter.
    pub fn new(kind: &str, shape: impl Into<String>, pure: bool, detail: impl Into<String>) -> Self {
        let (kind, shape, detail) = (kind.to_owned(), shape.into(), detail.into());
        Self { kind, shape, pure, detail, idle_settings: Vec::new() }
    }
}
