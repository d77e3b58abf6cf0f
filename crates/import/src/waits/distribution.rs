//! Latencies, each microsecond apart, so that percentiles are exact.

use std::collections::BTreeMap;

use mindful_core::result::trace::{LatencyRange, TracePercentiles, WaitFigures};

/// Latencies below this have a separate place when there are many, us.
const DENSE: usize = 1 << 15;
/// Different latencies from which on such places take less than a list.
const MANY: usize = 1 << 12;
/// Most values above that are kept apart; beyond them a value is kept to a thousandth of it.
const SPARSE: usize = 1 << 18;

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Distribution {
    dense: Vec<u32>,
    sparse: BTreeMap<u64, u64>,
    pub count: u64,
    pub time_us: u64,
    pub min_us: Option<u64>,
    pub max_us: Option<u64>,
}

impl Distribution {
    /// Counts one latency, us; returns whether it is one that is now kept for the first time.
    pub(crate) fn add(&mut self, us: u64) -> bool {
        self.sum_up(us);
        if self.added_dense(us) {
            return false;
        }
        let full = self.sparse.len() >= SPARSE && !self.sparse.contains_key(&us);
        let fresh = self.add_sparse(if full { rounded(us, 1024) } else { us });
        if fresh && self.dense.is_empty() && self.sparse.len() >= MANY {
            self.make_dense();
        }
        fresh
    }

    /// Counts one latency, us, rounded down by up to an eighth unless it has a place already.
    pub(crate) fn add_rounded(&mut self, us: u64) {
        self.sum_up(us);
        if !self.added_dense(us) {
            self.add_sparse(if self.sparse.contains_key(&us) { us } else { rounded(us, 8) });
        }
    }

    fn sum_up(&mut self, us: u64) {
        self.count += 1;
        self.time_us = self.time_us.saturating_add(us);
        self.min_us = Some(self.min_us.map_or(us, |min| min.min(us)));
        self.max_us = Some(self.max_us.map_or(us, |max| max.max(us)));
    }

    fn added_dense(&mut self, us: u64) -> bool {
        let place = usize::try_from(us).ok().and_then(|at| self.dense.get_mut(at)).filter(|count| **count < u32::MAX);
        place.map(|count| *count += 1).is_some()
    }

    fn add_sparse(&mut self, us: u64) -> bool {
        let count = self.sparse.entry(us).or_default();
        *count += 1;
        *count == 1
    }

    fn make_dense(&mut self) {
        self.dense = vec![0; DENSE];
        let above = self.sparse.split_off(&(DENSE as u64));
        for (us, count) in std::mem::replace(&mut self.sparse, above) {
            let most = u32::try_from(count).unwrap_or(u32::MAX);
            self.dense[us as usize] = most;
            if count > u64::from(most) {
                self.sparse.insert(us, count - u64::from(most));
            }
        }
    }

    /// `(latency in us, count)`, ascending.
    pub(crate) fn values(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let in_both = |us: u64| self.sparse.get(&us).copied().unwrap_or(0);
        let dense = self.dense.iter().zip(0..).filter(|(count, _)| **count > 0);
        let dense = dense.map(move |(count, us)| (us, u64::from(*count) + in_both(us)));
        // A lower latency occurs there again only if a place could not count further.
        let above = if self.dense.is_empty() { 0 } else { DENSE as u64 };
        dense.chain(self.sparse.range(above..).map(|(us, count)| (*us, *count)))
    }

    /// The latency at a share (0 to 1) of the way from the shortest to the longest, in their order, us: one that occurred.
    fn percentile_us(&self, share: f64) -> Option<u64> {
        let rank = (share * self.count.saturating_sub(1) as f64).floor() + 1.0;
        self.reached(rank, |_, count| count as f64)
    }

    /// The latency below which a share (0 to 1) of all the time was spent, us.
    fn time_percentile_us(&self, share: f64) -> Option<u64> {
        self.reached(share * self.time_us as f64, |us, count| us as f64 * count as f64)
    }

    fn reached(&self, wanted: f64, weight: impl Fn(u64, u64) -> f64) -> Option<u64> {
        let mut sum = 0.0;
        let found = self.values().find(|(us, count)| {
            sum += weight(*us, *count);
            sum >= wanted - 1e-9
        });
        found.map(|(us, _)| us).or(self.max_us)
    }

    /// By factors of ten of the latency, without empty ones.
    fn decades(&self) -> Vec<LatencyRange> {
        let mut ranges: Vec<LatencyRange> = Vec::new();
        for (us, count) in self.values() {
            let from_us = if us == 0 { 0 } else { 10_u64.pow(us.ilog10()) };
            let to_us = if us == 0 { 1 } else { from_us.saturating_mul(10) };
            if ranges.last().is_none_or(|range| range.from_us != from_us) {
                ranges.push(LatencyRange { from_us, to_us, waits: 0, time_us: 0, min_us: us, max_us: us });
            }
            if let Some(range) = ranges.last_mut() {
                range.waits += count;
                range.time_us = range.time_us.saturating_add(us.saturating_mul(count));
                range.max_us = us;
            }
        }
        ranges
    }

    pub(crate) fn figures(&self) -> WaitFigures {
        let percentiles = |at: &dyn Fn(f64) -> Option<u64>| TracePercentiles {
            p50: at(0.5),
            p95: at(0.95),
            p99: at(0.99),
            p999: at(0.999),
        };
        WaitFigures {
            waits: self.count,
            time_us: self.time_us,
            mean_us: (self.count > 0).then(|| self.time_us as f64 / self.count as f64),
            min_us: self.min_us,
            max_us: self.max_us,
            counted_us: percentiles(&|share| self.percentile_us(share)),
            time_weighted_us: percentiles(&|share| self.time_percentile_us(share)),
            ranges: self.decades(),
        }
    }
}

/// `us` down by less than one of so many parts of it.
fn rounded(us: u64, parts: u64) -> u64 {
    us - us % (1 << (us / parts).max(1).ilog2())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn percentiles_are_those_of_the_sorted_values(mut all in prop::collection::vec(0_u64..200_000, 1..300), many in any::<bool>(), share in 0.01_f64..1.0) {
            let mut distribution = Distribution::default();
            // So many that each has a separate place from then on.
            if many { all.extend((0..MANY as u64 + 9).map(|us| us * 7)); }
            for us in &all { distribution.add(*us); }
            prop_assert_eq!(distribution.dense.is_empty(), distribution.sparse.len() == distribution.values().count());
            all.sort_unstable();
            let place = (share * (all.len() - 1) as f64).floor() as usize;
            prop_assert_eq!(distribution.percentile_us(share), Some(all[place]));
            prop_assert_eq!(distribution.time_us, all.iter().sum::<u64>());
            prop_assert_eq!(distribution.decades().iter().map(|range| range.waits).sum::<u64>(), all.len() as u64);
        }
    }

    #[test]
    fn few_slow_calls_take_most_of_the_time() {
        let mut distribution = Distribution::default();
        for us in [100; 95].into_iter().chain([50_000; 5]) {
            distribution.add(us);
        }
        assert_eq!(distribution.percentile_us(0.5), Some(100));
        assert_eq!(distribution.time_percentile_us(0.5), Some(50_000));
    }

    #[test]
    fn memory_is_bounded_however_many_latencies_differ() {
        let mut distribution = Distribution::default();
        for us in (0..600_000_u64).map(|i| 1_000_000 + i * 7) {
            distribution.add(us);
        }
        assert!(distribution.sparse.len() < SPARSE + 20_000, "{}", distribution.sparse.len());
        let p90 = distribution.percentile_us(0.9).unwrap() as f64;
        assert!((p90 / (1_000_000.0 + 540_000.0 * 7.0) - 1.0).abs() < 0.005, "{p90}");
    }

    #[test]
    fn rounding_loses_less_than_an_eighth() {
        let mut distribution = Distribution::default();
        for us in 0..100_000_u64 {
            assert!(rounded(us, 8) <= us && (us - rounded(us, 8)) * 8 <= us, "{us}");
            distribution.add_rounded(us);
        }
        assert!(distribution.sparse.len() < 200, "{}", distribution.sparse.len());
        assert_eq!((distribution.count, distribution.max_us), (100_000, Some(99_999)));
    }
}
