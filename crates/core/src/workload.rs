//! The workload: operations, blocks and mix. Every choice is an independent seeded draw.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::dataset::{self, Dataset};
use crate::plan::units::Share;
use crate::{Error, Result};

pub mod client_loop;
mod compatibility;
pub mod draw;
pub mod draws;
pub mod schedule;
pub mod schema_share;

stored_names! {
    /// A kind of operation, in the order of [`crate::contract::slice::SliceReport::ops`].
    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum OpKind {
        /// Visits `work_unit` blocks and counts a column other than the key.
        Select = "select",
        /// Changes `update_work_unit` blocks in a separate transaction.
        Update = "update",
        /// Reads a whole table of a schema: the scan table, or the blocks themselves under [`Access::Scan`].
        Scan = "scan",
    }
}

stored_names! {
    /// Share of a row that an update changes, which decides the amount of redo.
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Redo {
        /// One or two narrow columns.
        #[default]
        Light = "light",
        /// Every column but the key.
        Heavy = "heavy",
    }
}

impl Redo {
    /// Bytes that an update changes in a block: two counters of 8 bytes, and with heavy redo eight columns of 124.
    pub const fn changed_bytes(self) -> u64 {
        match self {
            Self::Light => 16,
            Self::Heavy => 1_008,
        }
    }
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Commit {
    #[default]
    Each,
    /// After so many update operations.
    Every(u32),
    Slice,
}

/// A window of keys that takes a share of the operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HotSpot {
    pub blocks: u64,
    pub offset: u64,
    /// Share of operations that begin and end inside it.
    pub share: Share,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Skew {
    #[default]
    Uniform,
    /// Zipf's law with this exponent, between 0 and 1 (not 1).
    Zipf(f64),
    /// A share of the keys takes a share of the operations.
    HotSet {
        /// Share of the keys that are hot.
        fraction: Share,
        /// Share of the operations that go there.
        probability: Share,
        /// Operations of a session after which the hot set moves by its own length; 0 never moves it.
        moves_every: u64,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThinkTime {
    /// Share of operations followed by a pause.
    pub share: Share,
    /// Shortest pause (uniform), or zero (exponential).
    pub min: Duration,
    /// Longest pause (uniform), or the mean (exponential).
    pub max: Duration,
    /// Exponential instead of uniform.
    pub exponential: bool,
}

/// Open loop: operations arrive on a schedule, whether or not the last one has ended.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Rate {
    /// Arrivals per second over all sessions.
    pub per_s: f64,
    /// Evenly spaced instead of Poisson.
    pub even: bool,
}

stored_names! {
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum LoopSite {
        /// In the database: almost no client CPU, no network between operations.
        #[default]
        Server = "server",
        /// In mindful, one statement an operation: the view of an application.
        Client = "client",
    }
}

stored_names! {
    #[derive(Default, Serialize, Deserialize)]
    #[serde(rename_all = "snake_case")]
    pub enum Access {
        /// By the index, one row after the other: the method.
        #[default]
        Index = "index",
        /// All rows are found in the index first, then their blocks are read in the order of the table.
        Bitmap = "bitmap",
        /// All blocks of the table, from its first to its last: each operation is an [`OpKind::Scan`] of the blocks
        /// themselves.
        Scan = "scan",
    }
}

impl Access {
    /// Whether it is the method's own.
    pub const fn is_index(&self) -> bool {
        matches!(self, Self::Index)
    }
}

stored_names! {
    #[derive(Default, Serialize, Deserialize)]
    #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
    #[serde(rename_all = "snake_case")]
    pub enum Compatibility {
        /// Exactly `work_unit` blocks an operation, evenly spread mixes.
        #[default]
        Mindful = "mindful",
        /// `work_unit - 1` blocks an operation and the parity mix of SLOB 2.5.4.
        Slob = "slob",
        /// `work_unit + 1` blocks an operation and the front-loaded mix of pgio 1.0.
        Pgio = "pgio",
    }
}

impl Compatibility {
    /// The old kit with this arithmetic, as reports label it; `None` for mindful's own.
    pub const fn kit(self) -> Option<&'static str> {
        match self {
            Self::Mindful => None,
            Self::Slob => Some("SLOB 2.5.4"),
            Self::Pgio => Some("pgio 1.0"),
        }
    }
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    pub seed: u64,
    pub schemas: u32,
    /// Blocks in use in each schema.
    pub scale: u64,
    /// Blocks a read visits.
    pub work_unit: u64,
    pub update_pct: Share,
    /// Blocks an update visits.
    pub update_work_unit: u64,
    /// Share of reads that are full scans.
    pub scan_pct: Share,
    pub redo: Redo,
    pub commit: Commit,
    pub commit_wait: bool,
    pub hot_spot: Option<HotSpot>,
    /// Share of operations that go to schema 1.
    pub hot_schema: Share,
    pub skew: Skew,
    pub think_time: Option<ThinkTime>,
    /// Open loop.
    pub rate: Option<Rate>,
    pub loop_site: LoopSite,
    pub compatibility: Compatibility,
    #[serde(default, skip_serializing_if = "Access::is_index")]
    pub access: Access,
    /// Number of sessions that share all schemas evenly, see [`schema_share`]. `None`: each stays in its own schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spread_sessions: Option<u32>,
}

impl Workload {
    /// Only reads, of `work_unit` blocks each, with evenly spread keys and all options off, in the server-side loop.
    pub fn reads_only(schemas: u32, scale: u64, work_unit: u64) -> Self {
        Self { seed: 1, schemas, scale, work_unit, update_work_unit: work_unit, commit_wait: true, ..Self::default() }
    }

    pub fn refuse_more_than_loaded(&self, loaded: Option<&Dataset>) -> Result<()> {
        let dataset = loaded.ok_or_else(dataset::nothing_loaded_error)?;
        let scans = u64::from(!self.scan_pct.is_none() && self.access != Access::Scan);
        for (what, wanted, loaded, flag) in [
            ("schemas", u64::from(self.schemas), u64::from(dataset.schemas), "--schemas"),
            ("blocks a schema", self.scale, dataset.blocks_per_schema, "--scale"),
            ("blocks of scan table", scans, dataset.scan_blocks, "--scan-table"),
        ] {
            if wanted > loaded {
                return Err(Error::plan(
                    format!("the workload needs {wanted} {what}, but {loaded} are loaded"),
                    format!("pass a smaller {flag}, or load more"),
                ));
            }
        }
        Ok(())
    }

    /// Refuses combinations that no database supports with `sessions` sessions: a fixed rate with a loop in the server,
    /// and commits that wait for each other.
    pub fn refuse_contradictions(&self, sessions: u32) -> Result<()> {
        if self.rate.is_some() && self.loop_site == LoopSite::Server {
            return Err(Error::plan("a rate needs the loop in the client", "pass --loop client, or omit --rate"));
        }
        let shared = sessions > self.schemas || !self.hot_schema.is_none();
        if self.commit != Commit::Each && !self.update_pct.is_none() && shared {
            return Err(Error::plan(
                "sessions that share a schema and commit later than each operation would deadlock",
                "run as many --schemas as --sessions without --hot-schema, or --commit each",
            ));
        }
        Ok(())
    }

    /// When updates commit and whether they wait for the `log` (WAL, redo), in words: `each update, waiting for the
    /// log`. `None` without updates.
    pub fn commit_mode(&self, log: &str) -> Option<String> {
        let when = match self.commit {
            Commit::Each => "each update".to_owned(),
            Commit::Every(count) => format!("every {count} updates"),
            Commit::Slice => "each slice".to_owned(),
        };
        let wait = if self.commit_wait { "waiting" } else { "not waiting" };
        (!self.update_pct.is_none()).then(|| format!("{when}, {wait} for the {log}"))
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Op {
    /// Index within the session, from 0.
    pub index: u64,
    pub kind: OpKind,
    /// On which schema, from 1.
    pub schema: u32,
    /// First key visited, from 1.
    pub first_key: u64,
    /// Number of visited keys and blocks: the closed range `first_key ..= first_key + blocks - 1`.
    pub blocks: u64,
    pub hot: bool,
    pub hot_schema: bool,
    pub think: Duration,
}

impl Op {
    /// The cell of [`crate::contract::slice::Tally`] it belongs to.
    pub fn cell(&self) -> u8 {
        let bit = |set: bool, bit: u8| if set { bit } else { 0 };
        bit(self.kind == OpKind::Update, 1)
            | bit(self.kind == OpKind::Scan, 2)
            | bit(self.hot, 4)
            | bit(self.hot_schema, 8)
            | bit(!self.think.is_zero(), 16)
    }

    pub const fn last_key(&self) -> u64 {
        self.first_key + self.blocks - 1
    }
}

/// Number of keys at which a range of `blocks` can begin within `len` keys.
pub fn count_starts(len: u64, blocks: u64) -> u64 {
    (len + 1).saturating_sub(blocks).max(1)
}
