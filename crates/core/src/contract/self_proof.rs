//! An engine's proof of its own claims on a target, and the part that is stored for later runs.

use serde::{Deserialize, Serialize};

stored_names! {
    /// Whether a claim of an engine about itself held.
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Proven {
        Pass = "PASS",
        Fail = "FAIL",
        /// It cannot be observed here because a right is missing.
        NotSeen = "NOT SEEN",
    }
}

/// The result of an engine's self-proof on a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SelfProof {
    pub lines: Vec<(Proven, String)>,
    /// Contents of a bug report, without names of hosts and accounts.
    pub bundle: String,
}

/// The stored part of a self-proof, in the folder of the runs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredProof {
    pub version: String,
    pub proven_at_us: i64,
    pub lines: Vec<(Proven, String)>,
}

impl StoredProof {
    pub fn claims(&self, proven: Proven) -> impl Iterator<Item = &str> {
        self.lines.iter().filter(move |line| line.0 == proven).map(|line| line.1.as_str())
    }
}
