//! A slice: about a second of one session's work, ordered and reported in one call.

use serde::{Deserialize, Serialize};

use crate::record::latency::Latency;
use crate::workload::OpKind;

/// Where a session works: its number, its schema and the endpoint it connects to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Placement {
    /// Session number, from 0.
    pub session: u32,
    /// Number of sessions of the step.
    pub sessions: u32,
    /// The session's schema, from 1.
    pub schema: u32,
    /// Which of the target's endpoints it connects to, from 0.
    pub endpoint: u32,
}

/// Name of a session in messages, which count from 1.
pub fn session_name(session: u32) -> String {
    format!("session {}", session + 1)
}

/// "Work from this instant until that one." Instants are microseconds since the epoch on the engine's clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SliceOrder {
    /// Index of the slice, from 0.
    pub index: u32,
    /// Do not begin before.
    pub begin_us: i64,
    /// Begin no operation at or after this.
    pub end_us: i64,
    /// Index of the session's first operation in this slice.
    pub first_op: u64,
    /// Stop after this number of operations; `None` for no limit but time.
    pub max_ops: Option<u64>,
}

/// Work of one kind of operation in a slice.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpReport {
    /// Operations completed.
    pub ops: u64,
    /// Blocks visited by them.
    pub blocks: u64,
    /// Latencies of the operations: service time.
    pub latency: Latency,
    /// Response times by the schedule (open loop only).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub response: Option<Latency>,
}

/// From this length on an operation is reported separately, us: a percentile cannot show that all sessions stopped at
/// once.
pub const LONG_OP_US: u64 = 100_000;
/// From this length on it is a stall even once; shorter ones have to come again and again.
pub const STALL_US: u64 = 500_000;

/// An operation that took [`LONG_OP_US`] or longer, or a time as long in which the next one could have begun and did not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongOp {
    /// The kind of operation.
    pub kind: OpKind,
    /// When it began, us since the epoch on the engine's clock.
    pub begin_us: i64,
    /// Duration, us.
    pub us: u64,
}

/// Work of a session in a slice.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SliceReport {
    /// Index of the slice, from 0.
    pub index: u32,
    /// When work began, us since the epoch on the engine's clock.
    pub begin_us: i64,
    /// Begin no operation at or after this.
    pub end_us: i64,
    /// By kind, in the order of [`OpKind::ALL`].
    pub ops: [OpReport; 3],
    /// Time spent thinking, us.
    pub think_us: u64,
    /// Time spent waiting for another writer, us, if the engine reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub writer_wait_us: Option<u64>,
    /// CPU of the session on the server or in its own thread, us, if the engine reports it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_us: Option<u64>,
    /// Counts of the realised choices.
    #[serde(default, skip_serializing_if = "Tally::is_empty")]
    pub tally: Tally,
    /// Arrivals scheduled but not begun when the slice ended (open loop only).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub backlog: Option<u64>,
    /// Single operations, and pauses between two, of at least [`LONG_OP_US`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub long: Vec<LongOp>,
}

impl SliceReport {
    /// Operations of one kind.
    pub fn op(&self, kind: OpKind) -> &OpReport {
        &self.ops[kind as usize]
    }

    /// The work of operations of this kind, to add to it.
    pub fn op_mut(&mut self, kind: OpKind) -> &mut OpReport {
        &mut self.ops[kind as usize]
    }

    /// Reports an operation separately if it took long: `us` from `begin_us` on.
    pub fn note_long(&mut self, kind: OpKind, begin_us: i64, us: u64) {
        if us >= LONG_OP_US {
            self.long.push(LongOp { kind, begin_us, us });
        }
    }

    /// Blocks that operations of all kinds visited.
    pub fn blocks(&self) -> u64 {
        self.ops.iter().fold(0, |all, op| all.saturating_add(op.blocks))
    }

    /// Operations of all kinds.
    pub fn total_ops(&self) -> u64 {
        self.ops.iter().fold(0, |all, op| all.saturating_add(op.ops))
    }
}

/// Counts of choices by their combination.
///
/// The index of a cell is a bit set: 1 update, 2 scan, 4 hot spot, 8 hot schema, 16 think.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Tally(pub Vec<(u8, u64)>);

impl Tally {
    /// Whether nothing was tallied.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds `count` to `cell`.
    pub fn add(&mut self, cell: u8, count: u64) {
        match self.0.iter_mut().find(|(known, _)| *known == cell) {
            Some((_, sum)) => *sum = sum.saturating_add(count),
            None => self.0.push((cell, count)),
        }
    }
}
