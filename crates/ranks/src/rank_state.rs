//! The state that a rank publishes in its row.

use std::sync::Arc;
use std::time::Duration;

use mindful_core::Error;
use mindful_core::ranks::rendezvous::{RankRow, Rendezvous};
use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

/// A row that is not renewed for so long belongs to a rank that is gone.
pub const LEASE: Duration = Duration::from_secs(8);

/// The row of this process. Its coordinator writes it, its heartbeat renews it.
pub(crate) struct OwnRow {
    pub(crate) rendezvous: Arc<dyn Rendezvous>,
    pub(crate) job: String,
    pub(crate) row: Mutex<RankRow>,
}

/// Progress of a rank. The order of the variants is the order in time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Stage {
    /// It has a row.
    #[default]
    Joined,
    /// Rank 0: all ranks have joined, with the same plan.
    Gathered,
    /// The first rank of a target: the target is loaded and prepared. Rank 0: all targets are.
    Prepared,
    /// All its sessions are connected and warm.
    Ready,
    /// Its sessions have done their work, and its part waits at the rendezvous.
    Measured,
    /// Rank 0: the run is merged, reported and stored.
    Ended,
}

/// The content of a rank's row.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RankState {
    pub(crate) of: u32,
    pub(crate) host: String,
    pub(crate) version: String,
    pub(crate) plan: String,
    /// A mark of the value of each key, in the order of the keys; empty once all ranks are known to have the same plan.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub(crate) marks: String,
    pub(crate) stage: Stage,
    /// Time that its sessions need from the decision to their begin, us; known after they are ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) lead_us: Option<u64>,
    /// Rank 0: when all sessions begin, by the clock of the rendezvous, us since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) start_us: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) chunks: Option<u32>,
    /// Rank 0: whether the run is valid; known once it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) valid: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) failed: Option<Error>,
}

impl RankState {
    pub(crate) fn to_body(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Parses the text of a row; `None` if another version of mindful wrote it.
    pub(crate) fn parse(body: &str) -> Option<Self> {
        serde_json::from_str(body).ok()
    }
}
