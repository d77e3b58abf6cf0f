//! What a rank says of itself in its row.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use mindful_core::ranks::rendezvous::{RankRow, Rendezvous};
use mindful_core::{Error, ErrorKind};
use serde::{Deserialize, Serialize};

/// For so long a row is believed without being renewed.
pub const LEASE: Duration = Duration::from_secs(8);

/// The row of this process, which its heart renews.
pub struct Own {
    pub meeting: Arc<dyn Rendezvous>,
    pub job: String,
    pub row: Mutex<RankRow>,
}

/// How far a rank is. Each stage comes after those before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// It is there.
    Joined,
    /// The first rank: all are there and alike.
    Gathered,
    /// The first rank of a target: the dataset is there and the target is ready; the first of all: all targets are.
    Prepared,
    /// All its sessions are connected and warm.
    Ready,
    /// Its sessions have done their work, and what they did has been left for the first rank.
    Measured,
    /// The first rank: the run is merged, reported and stored.
    Ended,
}

/// Why a rank goes no further.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// What it means for the process, as [`ErrorKind`].
    kind: String,
    /// What happened.
    what: String,
    /// The next move.
    next: String,
}

const KINDS: [(&str, ErrorKind); 4] = [
    ("plan", ErrorKind::Plan),
    ("target", ErrorKind::Target),
    ("run", ErrorKind::Run),
    ("interrupted", ErrorKind::Interrupted),
];

impl From<&Error> for Failure {
    fn from(error: &Error) -> Self {
        let kind = KINDS.iter().find(|(_, kind)| *kind == error.kind).map_or("run", |(name, _)| name);
        Self { kind: kind.to_owned(), what: error.what.clone(), next: error.next.clone() }
    }
}

impl Failure {
    /// As an error of this process, which ends as that one did.
    pub fn error(&self) -> Error {
        let kind = KINDS.iter().find(|(name, _)| *name == self.kind).map_or(ErrorKind::Run, |(_, kind)| *kind);
        Error { kind, what: self.what.clone(), next: self.next.clone() }
    }
}

/// A rank as its row tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// How many ranks it believes there are.
    pub of: u32,
    /// Name of its host.
    pub host: String,
    /// Version and build of mindful.
    pub version: String,
    /// Digest of its plan.
    pub plan: String,
    /// A mark of each of its keys, in their order; empty once all are known to be alike.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub marks: String,
    /// How far it is.
    pub stage: Stage,
    /// How long it needs until its sessions begin, us, once they are ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lead_us: Option<u64>,
    /// The first rank: when all begin, by the meeting's clock, us since the epoch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_us: Option<i64>,
    /// How many chunks it left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunks: Option<u32>,
    /// The first rank: whether the run is valid, once it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid: Option<bool>,
    /// Why it goes no further.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<Failure>,
}

impl Member {
    /// As a row has it.
    pub fn body(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// From a row; `None` where another mindful wrote what this one does not understand.
    pub fn parse(body: &str) -> Option<Self> {
        serde_json::from_str(body).ok()
    }
}
