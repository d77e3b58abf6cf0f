//! Identity and settings of a target, and its place on this host.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A target as it is recorded.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts of a record, not states of one thing")]
pub struct Description {
    /// Version of the system under test.
    pub engine_version: String,
    /// Length of a block in bytes.
    pub block_bytes: u64,
    /// Size of the database's own cache in bytes; `None` without a cache, or if the size cannot be read.
    pub cache_bytes: Option<u64>,
    /// Whether each session has a cache of that size to itself.
    pub cache_each_session: bool,
    /// Identifies the running server, the same for all its targets; `None` if the engine does not provide it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub instance: Option<String>,
    /// Number of endpoints in its URL.
    pub endpoints: u32,
    /// Every setting that affects results, by the system's own names.
    pub facts: BTreeMap<String, String>,
    /// Whether the target is bare files or devices, without rows, cache or log.
    pub files: bool,
    /// Meaning of a finding on this engine and the remedy, by the finding's code.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub advice: BTreeMap<String, String>,
    /// Settings that a comparison must hold fixed, each with its effect: `durability`, `direct I/O`.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub held_fixed: BTreeMap<String, String>,
    /// Log that updates should write; `None` if the engine predicts nothing.
    pub expected_log: Option<ExpectedLog>,
    /// Description of a sample of the stored blocks; `None` if no block was read back.
    pub stored_blocks: Option<String>,
    /// Requests to the cache for each unit of work; `None` for [`CacheRequests::default`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_requests: Option<CacheRequests>,
    /// Cost of reading the clock for a session, us: its loop reads it once an operation. `None` if not measured.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_cost_us: Option<f64>,
    /// Whether its log is made durable by forced writes (O_DSYNC) and not by syncs.
    #[serde(default)]
    pub log_by_forced_writes: bool,
    /// Whether it syncs files other than those of its log only at checkpoints.
    #[serde(default)]
    pub syncs_log_only: bool,
    /// Settings with which a crash may lose or tear committed data: `fsync = off`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unsafe_settings: Vec<String>,
    /// The engine's words for concepts that all engines share.
    pub words: Words,
    /// Whether it simulates its reads, so that no figure describes storage.
    pub simulated: bool,
    /// Why the location of rows, and so blocks, pages and physical reads, is not claimed; `None` if the layout is
    /// proven.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_layout: Option<String>,
    /// A notice for every report and export of its figures, such as a demand of its licence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
}

/// A system's own words for common concepts, so that a report uses the words of its administrators.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Words {
    /// Its log of changes: `WAL`, `redo`.
    pub log: String,
    /// Requests that were served by its cache: `buffer hits`.
    pub hits: String,
    /// Reads for a block in addition to the block itself: `index and visibility-map reads`.
    pub beside: String,
}

impl Words {
    /// Words in the order of the fields.
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
    /// Blocks that are occasionally logged whole; `None` if that does not happen.
    pub images: Option<LogImages>,
    /// A transaction logs a block once, even if it updates it several times. Then only operations with a commit of
    /// their own are predicted.
    pub once_a_transaction: bool,
}

/// Upper limits of a system's requests to its own cache, and of reads and writes caused by updates. A system that
/// stores tables as trees requests each of their levels.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CacheRequests {
    /// For a block that is visited.
    pub visited: f64,
    /// For the index, an operation.
    pub operation: f64,
    /// In addition, for a block that had to be read.
    pub missed: f64,
    /// For an updated block, in addition to its visit: requests to undo the change, and to clean up after it.
    pub updated: f64,
    /// Reads of an updated block by the cleanup after it.
    pub cleaned: f64,
    /// Writes for a visited block: the cleanup after its update changes it again.
    pub written: f64,
}

impl Default for CacheRequests {
    /// A heap requests the block itself and four levels of an index. An update adds the block of the new version, the
    /// index block of that version, and the free space map.
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
    /// Effect of a setting that a comparison holds fixed.
    pub enum HeldFixed {
        /// Whether committed data survives a crash.
        Durability = "durability",
        /// Whether reads go past the page cache.
        DirectIo = "direct I/O",
        /// Which blocks lie next to each other in the cache.
        CacheOrder = "order of the cache",
    }
}

/// Share of a working set that a cache holds in the order of the tables.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CacheFill {
    /// Blocks that were brought in, in this order.
    pub in_order: u64,
    /// Blocks of the working set.
    pub blocks: u64,
}

impl CacheFill {
    /// A fill of all `blocks`.
    pub fn whole(blocks: u64) -> Self {
        Self { in_order: blocks, blocks }
    }

    /// Share of the working set that is in order.
    pub fn share(&self) -> f64 {
        self.in_order as f64 / self.blocks.max(1) as f64
    }

    /// Whether the missing part changes figures by less than their noise.
    pub fn is_whole(&self) -> bool {
        self.share() >= 0.98
    }
}

/// Processes and paths of the system under test on this host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::struct_excessive_bools, reason = "each is a fact of its own")]
pub struct HostView {
    /// Whether it runs on this host.
    pub local: bool,
    /// Root of the server's process tree; `None` if the server runs inside mindful's own process.
    pub server_pid: Option<u32>,
    /// The folders and files that hold its dataset, to find their device by.
    pub data_paths: Vec<PathBuf>,
    /// Paths of the log, to which commits wait; empty if they are unknown or there is no log.
    #[serde(default)]
    pub log_paths: Vec<PathBuf>,
    /// Whether the log has a separate folder.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub log_apart: bool,
    /// Whether the engine reads in mindful's own process.
    pub in_process: bool,
    /// Whether mindful started the server: only then may it change where its processes run.
    pub private: bool,
}

/// How an operation of one kind will be executed, found before the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AccessPath {
    /// Which statement: `select`, `update`, `scan`.
    pub kind: String,
    /// The access path in a few words: `Index Scan using blocks_1_k on blocks_1`.
    pub shape: String,
    /// Whether it is the access path of the method.
    pub pure: bool,
    /// The system's own description.
    pub detail: String,
    /// Names of system settings that cannot affect this access path.
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
