//! The operations of a session: each draws the same key, kind and pause on every loop site.

use std::collections::BTreeSet;
use std::time::Duration;

use super::schema_share::SchemaShare;
use super::{Compatibility, Op, OpKind, Skew, Workload, compatibility, count_starts};
use crate::plan::units::Share;
use crate::workload::draw::{self, Purpose};

/// Decides the operations of one session; the same in the client and, as SQL, in the database.
#[derive(Debug, Clone)]
pub struct Draws {
    workload: Workload,
    pub schema_share: SchemaShare,
    pub streams: Streams,
}

/// The seeds of a session's streams, for engines that draw in the database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streams {
    pub key: i64,
    /// 0 to 9,999: where the update mix begins.
    pub update_phase: u64,
    /// 0 to 9,999: where the scan mix begins.
    pub scan_phase: u64,
    pub hot_spot: i64,
    pub hot_schema: i64,
    pub hot_set: i64,
    pub think: i64,
    pub think_time: i64,
    pub arrival: i64,
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
    /// The draws of `session` (from 0), with `schema` (from 1) as its home unless the workload spreads sessions.
    pub fn new(workload: &Workload, session: u32, schema: u32) -> Self {
        let streams = Streams::new(workload.seed, session);
        let schema_share = SchemaShare::new(workload, session, schema, streams.schema);
        Self { workload: workload.clone(), schema_share, streams }
    }

    /// All schemas that operations can visit, in order.
    pub fn schemas(&self) -> BTreeSet<u32> {
        let hot = (!self.workload.hot_schema.is_none()).then_some(1);
        self.schema_share.schemas().chain(hot).collect()
    }

    pub fn op(&self, index: u64) -> Op {
        let w = &self.workload;
        let kind = self.kind(index);
        let wanted = compatibility::blocks(
            w.compatibility,
            if kind == OpKind::Update { w.update_work_unit } else { w.work_unit },
        );
        let hot = w.hot_spot.is_some_and(|h| drawn(index, self.streams.hot_spot, h.share));
        let hot_schema = drawn(index, self.streams.hot_schema, w.hot_schema);
        let schema = if hot_schema { 1 } else { self.schema_share.schema(index) };
        let (first_key, blocks) = match (w.hot_spot, hot) {
            _ if w.compatibility != Compatibility::Mindful => {
                (compatibility::first_key(w, self.streams.key, index), wanted.min(w.scale))
            }
            (Some(spot), true) => (self.key_in(index, spot.offset, spot.blocks, wanted), wanted.min(spot.blocks)),
            _ => (self.spread_key(index, wanted), wanted.min(w.scale)),
        };
        Op { index, kind, schema, first_key, blocks, hot, hot_schema, think: self.think(index) }
    }

    /// Error diffusion: exact over any cycle, and no window off by more than one operation.
    fn kind(&self, index: u64) -> OpKind {
        let w = &self.workload;
        if w.compatibility != Compatibility::Mindful {
            return compatibility::kind(w, self.streams.key, index);
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
        offset + 1 + draw::draw(index, self.streams.key) % count_starts(len, blocks)
    }

    fn spread_key(&self, index: u64, blocks: u64) -> u64 {
        let scale = self.workload.scale;
        match self.workload.skew {
            Skew::Uniform => self.key_in(index, 0, scale, blocks),
            Skew::Zipf(theta) => {
                let spread = count_starts(scale, blocks);
                1 + zipf_rank(draw::draw_unit(index, self.streams.key), spread, theta)
            }
            Skew::HotSet { fraction, probability, moves_every } => {
                let spread = count_starts(scale, blocks);
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

/// Number of events in a mix of `share` after `count` operations: `(count * share + phase) / 10000`.
pub(crate) fn diffused(count: u64, share: Share, phase: u64) -> u64 {
    let scaled = u128::from(count) * u128::from(share.hundredths()) + u128::from(phase);
    (scaled / u128::from(Share::WHOLE)) as u64
}

fn drawn(index: u64, stream: i64, share: Share) -> bool {
    !share.is_none() && draw::draw(index, stream) % u64::from(Share::WHOLE) < u64::from(share.hundredths())
}

/// Number of hot keys among `spread` starting keys.
pub fn hot_set_keys(spread: u64, fraction: Share) -> u64 {
    (u128::from(spread) * u128::from(fraction.hundredths()) / u128::from(Share::WHOLE)).max(1) as u64
}

/// Rank from 0 under a bounded Pareto law of exponent `theta` in (0, 1), the continuous form of Zipf's law:
/// the inverse of `F(x) = (x^(1-theta) - 1) / (n^(1-theta) - 1)` on 1 to n + 1.
pub(crate) fn zipf_rank(unit: f64, spread: u64, theta: f64) -> u64 {
    let power = 1.0 - theta;
    let top = ((spread + 1) as f64).powf(power) - 1.0;
    let x = (unit * top + 1.0).powf(1.0 / power);
    (x.floor() as u64).clamp(1, spread) - 1
}
