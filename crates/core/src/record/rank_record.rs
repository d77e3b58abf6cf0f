//! The stored record of work that several ranks did together.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::contract::slice::{LongOp, SliceReport};
use crate::record::latency::Buckets;
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

/// Ends are distinguished to this, us.
const TICK_US: i64 = 100_000;

/// Blocks visited, by when the slices that visited them ended: sessions publish their counters when a slice ends, which
/// with long operations may be long after its boundary.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(into = "Vec<(i64, u64)>", from = "Vec<(i64, u64)>")]
pub struct Published(BTreeMap<i64, u64>);

/// As text a list of pairs.
impl From<Published> for Vec<(i64, u64)> {
    fn from(published: Published) -> Self {
        published.0.into_iter().collect()
    }
}

impl From<Vec<(i64, u64)>> for Published {
    fn from(pairs: Vec<(i64, u64)>) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl Published {
    pub(crate) fn add(&mut self, report: &SliceReport) {
        let blocks = report.blocks();
        let all = self.0.entry(report.end_us.div_euclid(TICK_US)).or_default();
        *all = all.saturating_add(blocks);
    }

    /// Adds the work of other sessions, published by a clock that is `shift_us` late, to one tick.
    pub(crate) fn merge_shifted(&mut self, others: &Self, shift_us: i64) {
        for (tick, blocks) in &others.0 {
            let end_us = tick.saturating_mul(TICK_US).saturating_add(shift_us);
            let all = self.0.entry(end_us.div_euclid(TICK_US)).or_default();
            *all = all.saturating_add(*blocks);
        }
    }

    pub fn total(&self) -> u64 {
        self.0.values().fold(0, |all, blocks| all.saturating_add(*blocks))
    }

    /// Lower limit of blocks published before `begin_us`, and upper limit of blocks published before `end_us`.
    pub fn blocks_between(&self, begin_us: i64, end_us: i64) -> (u64, u64) {
        let (from, to) = (begin_us.div_euclid(TICK_US), end_us.div_euclid(TICK_US));
        let sum = |blocks: &mut dyn Iterator<Item = u64>| blocks.fold(0, u64::saturating_add);
        let least = sum(&mut self.0.range(..from).map(|(_, blocks)| *blocks));
        let most = sum(&mut self.0.range(..=to.max(from)).map(|(_, blocks)| *blocks));
        (least, most)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::OpKind;

    #[test]
    fn an_operation_that_ends_during_a_reading_may_count_or_not() {
        let mut published = Published::default();
        for (end_us, blocks) in [(1_000_000, 10), (1_520_000, 20), (2_000_000, 40), (i64::MAX, 80)] {
            let mut report = SliceReport { end_us, ..SliceReport::default() };
            report.op_mut(OpKind::Select).blocks = blocks;
            published.add(&report);
        }
        assert_eq!(published.blocks_between(1_200_000, 1_300_000), (10, 10));
        assert_eq!(published.blocks_between(1_500_000, 1_500_000), (10, 30));
        assert_eq!(published.blocks_between(1_200_000, 2_050_000), (10, 70));
        assert_eq!(published.total(), 150);
    }
}
