//! Latencies, each microsecond apart, so that percentiles are exact.

use std::collections::BTreeMap;

use mindful_core::latency::Latency;

/// Latencies below this have a place of their own, us.
const DENSE: usize = 1 << 15;
/// Most values above that are kept apart; beyond them a value is kept to a thousandth of it.
const SPARSE: usize = 1 << 18;

/// How often each latency occurred.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Distribution {
    dense: Vec<u32>,
    sparse: BTreeMap<u64, u64>,
    /// How many.
    pub count: u64,
    /// Their time, us.
    pub time_us: u64,
    /// The shortest, us.
    pub min_us: Option<u64>,
    /// The longest, us.
    pub max_us: Option<u64>,
}

/// Latencies in a range of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Range {
    /// From this, us.
    pub from_us: u64,
    /// To below this, us.
    pub to_us: u64,
    /// How many.
    pub count: u64,
    /// Their time, us.
    pub time_us: u64,
    /// The shortest, us.
    pub min_us: u64,
    /// The longest, us.
    pub max_us: u64,
}

impl Distribution {
    /// Counts one latency, us.
    pub fn add(&mut self, us: u64) {
        self.count += 1;
        self.time_us = self.time_us.saturating_add(us);
        self.min_us = Some(self.min_us.map_or(us, |min| min.min(us)));
        self.max_us = Some(self.max_us.map_or(us, |max| max.max(us)));
        let at = us as usize;
        if us < DENSE as u64 {
            if self.dense.len() <= at {
                self.dense.resize((at + 1).next_power_of_two(), 0);
            }
            if self.dense[at] < u32::MAX {
                self.dense[at] += 1;
                return;
            }
        }
        let full = self.sparse.len() >= SPARSE && !self.sparse.contains_key(&us);
        let kept = if full { us - us % (us / 1024).max(1).next_power_of_two() } else { us };
        *self.sparse.entry(kept).or_default() += 1;
    }

    /// `(latency in us, how many)`, rising.
    pub fn values(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let dense = self.dense.iter().enumerate().filter(|(_, count)| **count > 0);
        let more = |us: u64| if us < DENSE as u64 { self.sparse.get(&us).copied().unwrap_or(0) } else { 0 };
        let dense = dense.map(move |(us, count)| (us as u64, u64::from(*count) + more(us as u64)));
        dense.chain(self.sparse.range(DENSE as u64..).map(|(us, count)| (*us, *count)))
    }

    /// Mean, us; `None` when empty.
    pub fn mean_us(&self) -> Option<f64> {
        (self.count > 0).then(|| self.time_us as f64 / self.count as f64)
    }

    /// The latency at a share (0 to 1) of the way from the shortest to the longest, in their order, us: one that occurred.
    pub fn percentile_us(&self, share: f64) -> Option<u64> {
        let rank = (share * self.count.saturating_sub(1) as f64).floor() + 1.0;
        self.reached(rank, |_, count| count as f64)
    }

    /// The latency below which a share (0 to 1) of all the time was spent, us.
    pub fn time_percentile_us(&self, share: f64) -> Option<u64> {
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

    /// By factors of ten of the latency; those that did not occur are left out.
    pub fn decades(&self) -> Vec<Range> {
        let mut ranges: Vec<Range> = Vec::new();
        for (us, count) in self.values() {
            let from_us = if us == 0 { 0 } else { 10_u64.pow(us.ilog10()) };
            let to_us = if us == 0 { 1 } else { from_us.saturating_mul(10) };
            if ranges.last().is_none_or(|range| range.from_us != from_us) {
                ranges.push(Range { from_us, to_us, count: 0, time_us: 0, min_us: us, max_us: us });
            }
            if let Some(range) = ranges.last_mut() {
                range.count += count;
                range.time_us = range.time_us.saturating_add(us.saturating_mul(count));
                range.max_us = us;
            }
        }
        ranges
    }

    /// As the histograms of our own runs.
    pub fn latency(&self) -> Latency {
        let ns = |us: u64| us.saturating_mul(1_000);
        Latency {
            buckets: self.values().map(|(us, count)| (ns(us), count)).collect(),
            sum_ns: ns(self.time_us),
            max_ns: ns(self.max_us.unwrap_or(0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn percentiles_are_those_of_the_sorted_values(mut all in prop::collection::vec(0_u64..200_000, 1..300), share in 0.01_f64..1.0) {
            let mut distribution = Distribution::default();
            for us in &all { distribution.add(*us); }
            all.sort_unstable();
            let place = (share * (all.len() - 1) as f64).floor() as usize;
            prop_assert_eq!(distribution.percentile_us(share), Some(all[place]));
            prop_assert_eq!(distribution.time_us, all.iter().sum::<u64>());
            prop_assert_eq!(distribution.decades().iter().map(|range| range.count).sum::<u64>(), all.len() as u64);
        }
    }

    #[test]
    fn few_slow_calls_own_the_time() {
        let mut distribution = Distribution::default();
        (0..95).for_each(|_| distribution.add(100));
        (0..5).for_each(|_| distribution.add(50_000));
        assert_eq!(distribution.percentile_us(0.5), Some(100));
        assert_eq!(distribution.time_percentile_us(0.5), Some(50_000));
    }

    #[test]
    fn memory_is_bounded_however_many_latencies_differ() {
        let mut distribution = Distribution::default();
        (0..600_000_u64).for_each(|i| distribution.add(1_000_000 + i * 7));
        assert!(distribution.sparse.len() < SPARSE + 20_000, "{}", distribution.sparse.len());
        let reported = distribution.percentile_us(0.9).unwrap() as f64;
        assert!((reported / (1_000_000.0 + 540_000.0 * 7.0) - 1.0).abs() < 0.005, "{reported}");
    }
}
