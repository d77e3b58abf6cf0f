//! What a target is and where it can be seen.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// What a target is, for the record.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Description {
    /// Version of the system under test.
    pub engine_version: String,
    /// Length of a block in bytes.
    pub block_bytes: u64,
    /// Size of the database's own cache in bytes; `None` where it has none or it cannot be told.
    pub cache_bytes: Option<u64>,
    /// Whether each session has a cache of that size to itself.
    #[serde(default)]
    pub cache_each_session: bool,
    /// How many endpoints its URL names.
    pub endpoints: u32,
    /// Every setting that matters, by the system's own names.
    pub facts: BTreeMap<String, String>,
}

/// Where the system under test can be seen on this host.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostView {
    /// Whether it runs on this host.
    pub local: bool,
    /// The process whose descendants are the server; `None` when it works inside mindful's own process.
    pub server_pid: Option<u32>,
    /// The folders and files that hold its data, to find their device by.
    pub data_paths: Vec<PathBuf>,
    /// The engine reads in mindful's own process.
    pub in_process: bool,
}

/// How a kind of operation will be carried out, found before the run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlanShape {
    /// Which statement: `select`, `update`, `scan`.
    pub kind: String,
    /// The access path in a few words: `Index Scan using blocks_1_k on blocks_1`.
    pub shape: String,
    /// Whether it is the one the method asks for.
    pub pure: bool,
    /// The system's own text.
    pub detail: String,
}
