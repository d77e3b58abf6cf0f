//! The stored record of work that several ranks did together.

use serde::{Deserialize, Serialize};

use crate::contract::slice::{LongOp, SliceReport};
use crate::record::latency::Buckets;
use crate::record::published::Published;
use crate::result::finding::Finding;

/// When a session began its first slice and ended its last, us since the epoch on the engine's clock.
pub type Span = (i64, i64);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankTarget {
    /// Its number, from 0.
    pub target: u32,
    pub targets: u32,
    /// The first of its ranks, which managed it.
    pub first_rank: u32,
    pub ranks: u32,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RankRecord {
    /// Its number, from 0.
    pub rank: u32,
    pub ranks: u32,
    pub job: String,
    pub host: String,
    pub first_session: u32,
    pub sessions: u32,
    /// The target it worked on, where the run has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on_target: Option<RankTarget>,
    /// The rendezvous' clock minus the host's, us; `None` if it was not read.
    pub clock_offset_us: Option<i64>,
    /// Error of the offset, us.
    pub clock_within_us: Option<i64>,
    /// When it began by the clock that its slices are timed with, us since the epoch.
    pub start_us: i64,
    /// CPUs that its process might use, where that is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<f64>,
    /// `(boundary, CPU of its process so far in us)`; empty in its own folder, which has the counters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cpu_us: Vec<(u32, f64)>,
    /// Findings of this rank, on their way to the merged run; empty in stored runs.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
}

/// The work of all sessions between two neighbouring boundaries.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MergedSlice {
    /// Their reports as one that begins and ends on the boundaries: sums of all figures. CPU is known if all reported
    /// it.
    pub report: SliceReport,
    pub reports: usize,
    /// From begin to end of each report, summed, us.
    pub slice_us: i64,
    /// `(session, operation)` of each that took long, which are few.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub long: Vec<(u32, LongOp)>,
    /// `(session, operations)` of each session, packed.
    pub ops: Buckets,
}

/// Work times of sessions; precedes slices that are reported singly.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Spans {
    /// Begin of the first slice and end of the last of each session, us since the epoch on the engine's clock.
    pub spans: Vec<Option<Span>>,
    /// Time that sessions were in these slices between each two boundaries, summed, us.
    pub occupied_us: Vec<i64>,
    pub published: Published,
}

impl RankRecord {
    /// Whether it managed a target other than the first one of the run.
    pub fn leads_other_target(&self) -> bool {
        self.rank > 0 && self.on_target.is_some_and(|on| on.first_rank == self.rank)
    }
}
