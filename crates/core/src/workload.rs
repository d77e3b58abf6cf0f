//! What the sessions do: which operations, on which blocks, in which mix. Every choice is an independent seeded draw.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::draw::{self, Purpose};
use crate::units::Share;

pub mod like;
mod spread;

pub use spread::Spread;

/// The kinds of operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OpKind {
    /// Visits `work_unit` blocks and counts a column beside the key.
    Select,
    /// Changes `update_work_unit` blocks in a transaction of its own.
    Update,
    /// Reads the whole scan table of a schema.
    Scan,
}

impl OpKind {
    /// All kinds, in the order of [`crate::slice::SliceReport::ops`].
    pub const ALL: [Self; 3] = [Self::Select, Self::Update, Self::Scan];

    /// The name used in every report.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Select => "select",
            Self::Update => "update",
            Self::Scan => "scan",
        }
    }
}

/// How much of a row an update changes, and so how much redo it makes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Redo {
    /// One or two narrow columns.
    #[default]
    Light,
    /// Every column but the key.
    Heavy,
}

/// When updates are committed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Commit {
    /// After each update operation.
    #[default]
    Each,
    /// After so many update operations.
    Every(u32),
    /// At the end of each slice.
    Slice,
}

/// A window of keys that takes a share of the operations.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HotSpot {
    /// Blocks in the window.
    pub blocks: u64,
    /// Blocks before the window.
    pub offset: u64,
    /// Share of operations that begin and end inside it.
    pub share: Share,
}

/// How keys are spread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Skew {
    /// Every key alike.
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
        /// The hot set moves on by its own length after so many operations of a session; 0 stands still.
        moves_every: u64,
    },
}

/// Pauses of a session after an operation.
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

/// Where the work loop runs.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LoopSite {
    /// In the database: almost no client CPU, no network between operations.
    #[default]
    Server,
    /// In mindful, one statement an operation: what an application would see.
    Client,
}

/// Whose arithmetic the operations follow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Like {
    /// Exactly `work_unit` blocks an operation, evenly spread mixes.
    #[default]
    Mindful,
    /// `work_unit - 1` blocks an operation and the parity mix of SLOB 2.5.4.
    Slob,
    /// `work_unit + 1` blocks an operation and the front-loaded mix of pgio 1.0.
    Pgio,
}

impl Like {
    /// The old kit whose arithmetic it is, as every report labels it; `None` for mindful's own.
    pub const fn kit(self) -> Option<&'static str> {
        match self {
            Self::Mindful => None,
            Self::Slob => Some("SLOB 2.5.4"),
            Self::Pgio => Some("pgio 1.0"),
        }
    }
}

/// The work of one step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Workload {
    /// Seed of every draw.
    pub seed: u64,
    /// Schemas in use.
    pub schemas: u32,
    /// Blocks in use in each schema.
    pub scale: u64,
    /// Blocks a read visits.
    pub work_unit: u64,
    /// Share of operations that are updates.
    pub update_pct: Share,
    /// Blocks an update visits.
    pub update_work_unit: u64,
    /// Share of reads that are full scans.
    pub scan_pct: Share,
    /// How much an update changes.
    pub redo: Redo,
    /// When it commits.
    pub commit: Commit,
    /// Whether a commit waits for the log to be on storage.
    pub commit_wait: bool,
    /// A window that takes more than its share.
    pub hot_spot: Option<HotSpot>,
    /// Share of operations that go to schema 1.
    pub hot_schema: Share,
    /// How keys are spread.
    pub skew: Skew,
    /// Pauses.
    pub think_time: Option<ThinkTime>,
    /// Open loop.
    pub rate: Option<Rate>,
    /// Where the loop runs.
    pub looping: LoopSite,
    /// Whose arithmetic.
    pub like: Like,
    /// So many sessions visit all schemas alike, each a part of them; see [`Spread`]. `None`: each stays in its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spread: Option<u32>,
}

impl Workload {
    /// Reads alone, of `work_unit` blocks each, keys spread evenly, with every knob off, in the server-side loop.
    pub const fn reads(schemas: u32, scale: u64, work_unit: u64) -> Self {
        Self {
            seed: 1,
            schemas,
            scale,
            work_unit,
            update_pct: Share::NONE,
            update_work_unit: work_unit,
            scan_pct: Share::NONE,
            redo: Redo::Light,
            commit: Commit::Each,
            commit_wait: true,
            hot_spot: None,
            hot_schema: Share::NONE,
            skew: Skew::Uniform,
            think_time: None,
            rate: None,
            looping: LoopSite::Server,
            like: Like::Mindful,
            spread: None,
        }
    }

    /// When updates commit and whether they wait, in words: `each update, waiting for the log`. `None` for reads alone.
    pub fn commit_mode(&self) -> Option<String> {
        let when = match self.commit {
            Commit::Each => "each update".to_owned(),
            Commit::Every(count) => format!("every {count} updates"),
            Commit::Slice => "each slice".to_owned(),
        };
        let wait = if self.commit_wait { "waiting for the log" } else { "not waiting for the log" };
        (!self.update_pct.is_none()).then(|| format!("{when}, {wait}"))
    }
}

/// One operation, fully decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Op {
    /// Index within the session, from 0.
    pub index: u64,
    /// What is done.
    pub kind: OpKind,
    /// On which schema, from 1.
    pub schema: u32,
    /// First key visited, from 1.
    pub first_key: u64,
    /// How many keys, and so blocks, are visited: the closed range `first_key ..= first_key + blocks - 1`.
    pub blocks: u64,
    /// Whether it was sent to the hot spot.
    pub hot: bool,
    /// Whether it was sent to the hot schema.
    pub hot_schema: bool,
    /// Pause after it.
    pub think: Duration,
}

impl Op {
    /// The cell of [`crate::slice::Tally`] it belongs to.
    pub fn cell(&self) -> u8 {
        let bit = |set: bool, bit: u8| if set { bit } else { 0 };
        bit(self.kind == OpKind::Update, 1)
            | bit(self.kind == OpKind::Scan, 2)
            | bit(self.hot, 4)
            | bit(self.hot_schema, 8)
            | bit(!self.think.is_zero(), 16)
    }

    /// Last key visited.
    pub const fn last_key(&self) -> u64 {
        self.first_key + self.blocks - 1
    }
}

/// Decides the operations of one session; the same in the client and, as SQL, in the database.
#[derive(Debug, Clone)]
pub struct Draws {
    workload: Workload,
    spread: Spread,
    streams: Streams,
}

/// The seeds of a session's streams, for engines whose database draws for itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streams {
    /// First key.
    pub key: i64,
    /// 0 to 9,999: where the update mix begins.
    pub update_phase: u64,
    /// 0 to 9,999: where the scan mix begins.
    pub scan_phase: u64,
    /// Hot spot or not.
    pub hot_spot: i64,
    /// Hot schema or not.
    pub hot_schema: i64,
    /// Hot set or not.
    pub hot_set: i64,
    /// Think or not.
    pub think: i64,
    /// For how long.
    pub think_time: i64,
    /// Arrivals.
    pub arrival: i64,
    /// Which of its schemas.
    pub schema: i64,
}

impl Streams {
    /// The streams of `session` (from 0) under `seed`.
    pub fn new(seed: u64, session: u32) -> Self {
        let stream = |purpose| draw::stream_seed(seed, session, purpose);
        let phase = |purpose| stream(purpose) as u64 % u64::from(Share::WHOLE);
        Self {
            key: stream(Purpose::Key),
            update_phase: phase(Purpose::UpdatePhase),
            scan_phase: phase(Purpose::ScanPhase),
            hot_spot: stream(Purpose::HotSpot),
            hot_schema: stream(Purpose::HotSchema),
            hot_set: stream(Purpose::HotSet),
            think: stream(Purpose::Think),
            think_time: stream(Purpose::ThinkTime),
            arrival: stream(Purpose::Arrival),
            schema: stream(Purpose::Schema),
        }
    }
}

impl Draws {
    /// The draws of `session` (from 0), whose home is `schema` (from 1) unless the workload spreads sessions.
    pub fn new(workload: &Workload, session: u32, schema: u32) -> Self {
        let streams = Streams::new(workload.seed, session);
        Self { workload: workload.clone(), spread: Spread::new(workload, session, schema, streams.schema), streams }
    }

    /// The schemas that operations visit, but for hot ones.
    pub fn spread(&self) -> Spread {
        self.spread
    }

    /// All schemas that operations can visit, in order.
    pub fn schemas(&self) -> BTreeSet<u32> {
        let hot = (!self.workload.hot_schema.is_none()).then_some(1);
        self.spread.schemas().chain(hot).collect()
    }

    /// The seeds behind the draws.
    pub fn streams(&self) -> Streams {
        self.streams
    }

    /// Operation `index`.
    pub fn op(&self, index: u64) -> Op {
        let w = &self.workload;
        let kind = self.kind(index);
        let wanted = like::blocks(w.like, if kind == OpKind::Update { w.update_work_unit } else { w.work_unit });
        let hot = w.hot_spot.is_some_and(|h| drawn(index, self.streams.hot_spot, h.share));
        let hot_schema = drawn(index, self.streams.hot_schema, w.hot_schema);
        let schema = if hot_schema { 1 } else { self.spread.schema(index) };
        let (first_key, blocks) = match (w.hot_spot, hot) {
            _ if w.like != Like::Mindful => (like::first_key(w, self.streams.key, index), wanted.min(w.scale)),
            (Some(spot), true) => (self.key_in(index, spot.offset, spot.blocks, wanted), wanted.min(spot.blocks)),
            _ => (self.spread_key(index, wanted), wanted.min(w.scale)),
        };
        Op { index, kind, schema, first_key, blocks, hot, hot_schema, think: self.think(index) }
    }

    /// Error diffusion: exact over any cycle, and no window off by more than one operation.
    fn kind(&self, index: u64) -> OpKind {
        let w = &self.workload;
        if w.like != Like::Mindful {
            return like::kind(w, self.streams.key, index);
        }
        let updates_before = diffused(index, w.update_pct, self.streams.update_phase);
        if diffused(index + 1, w.update_pct, self.streams.update_phase) > updates_before {
            return OpKind::Update;
        }
        let reads_before = index - updates_before;
        let scans = |reads| diffused(reads, w.scan_pct, self.streams.scan_phase);
        if scans(reads_before + 1) > scans(reads_before) { OpKind::Scan } else { OpKind::Select }
    }

    /// Uniform over the keys from which `blocks` fit into `offset + 1 ..= offset + len`.
    fn key_in(&self, index: u64, offset: u64, len: u64, blocks: u64) -> u64 {
        offset + 1 + draw::draw(index, self.streams.key) % starts(len, blocks)
    }

    fn spread_key(&self, index: u64, blocks: u64) -> u64 {
        let scale = self.workload.scale;
        match self.workload.skew {
            Skew::Uniform => self.key_in(index, 0, scale, blocks),
            Skew::Zipf(theta) => {
                let spread = starts(scale, blocks);
                1 + zipf_rank(draw::draw_unit(index, self.streams.key), spread, theta)
            }
            Skew::HotSet { fraction, probability, moves_every } => {
                let spread = starts(scale, blocks);
                let hot_keys = hot_set_keys(spread, fraction);
                let base = index.checked_div(moves_every).unwrap_or(0).wrapping_mul(hot_keys) % spread;
                let number = draw::draw(index, self.streams.key);
                let step = if drawn(index, self.streams.hot_set, probability) || hot_keys == spread {
                    number % hot_keys
                } else {
                    hot_keys + number % (spread - hot_keys)
                };
                1 + (base + step) % spread
            }
        }
    }

    fn think(&self, index: u64) -> Duration {
        match self.workload.think_time {
            Some(t) if drawn(index, self.streams.think, t.share) => {
                let unit = draw::draw_unit(index, self.streams.think_time);
                if t.exponential {
                    t.max.mul_f64(-(1.0 - unit).ln())
                } else {
                    t.min + t.max.saturating_sub(t.min).mul_f64(unit)
                }
            }
            _ => Duration::ZERO,
        }
    }
}

/// How many events a mix of `share` has seen after `count` operations: `(count * share + phase) / 10000`.
pub fn diffused(count: u64, share: Share, phase: u64) -> u64 {
    let scaled = u128::from(count) * u128::from(share.hundredths()) + u128::from(phase);
    (scaled / u128::from(Share::WHOLE)) as u64
}

/// Whether draw `index` of `stream` falls into `share`.
pub fn drawn(index: u64, stream: i64, share: Share) -> bool {
    !share.is_none() && draw::draw(index, stream) % u64::from(Share::WHOLE) < u64::from(share.hundredths())
}

/// From how many keys a range of `blocks` can begin within `len` keys.
pub fn starts(len: u64, blocks: u64) -> u64 {
    (len + 1).saturating_sub(blocks).max(1)
}

/// How many of `spread` starting keys are hot.
pub fn hot_set_keys(spread: u64, fraction: Share) -> u64 {
    (u128::from(spread) * u128::from(fraction.hundredths()) / u128::from(Share::WHOLE)).max(1) as u64
}

/// Rank from 0 under a bounded Pareto law of exponent `theta` in (0, 1), the continuous form of Zipf's law:
/// the inverse of `F(x) = (x^(1-theta) - 1) / (n^(1-theta) - 1)` on 1 to n + 1.
pub fn zipf_rank(unit: f64, spread: u64, theta: f64) -> u64 {
    let power = 1.0 - theta;
    let top = ((spread + 1) as f64).powf(power) - 1.0;
    let x = (unit * top + 1.0).powf(1.0 / power);
    (x.floor() as u64).clamp(1, spread) - 1
}
