//! Work published by sessions up to an instant. They publish their counters when a slice ends, which with long
//! operations may be long after its boundary.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::contract::slice::SliceReport;

/// Ends are distinguished to this, us.
const TICK_US: i64 = 100_000;

/// Blocks visited, by when the slices that visited them ended.
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
