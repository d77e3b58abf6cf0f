//! Latencies of one kind of operation: a sparse histogram that merges and serialises.

mod buckets;

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};

pub use buckets::Buckets;

/// Longest latency kept apart, in nanoseconds: one hour. Longer ones count as this, the true maximum is kept.
pub const LONGEST_NS: u64 = 3_600_000_000_000;

/// Latencies as counts by value, with the exact sum and maximum.
///
/// A value is stored as its bucket, which is at most 1 % wide.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Latency {
    pub buckets: Buckets,
    pub sum_ns: u64,
    pub max_ns: u64,
}

impl Latency {
    pub fn merge_all<'a>(parts: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut all = Recorder::new();
        parts.into_iter().for_each(|part| all.merge(part));
        all.drain()
    }

    pub fn count(&self) -> u64 {
        self.buckets.iter().fold(0, |all: u64, (_, count)| all.saturating_add(count))
    }

    pub fn mean_ns(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum_ns as f64 / count as f64)
    }
}

/// The source of waits that the database counted by duration: all of them, of the kinds in [`wait_kind`].
pub const WAIT_HISTOGRAM: &str = "wait_histogram";

pub mod wait_kind {
    /// Of a session for one block.
    pub const READ: &str = "read";
    pub const LOG_WRITE: &str = "log_write";
    /// Of a session for the log.
    pub const LOG_SYNC: &str = "log_sync";
    /// Of a writer of the cache for a batch of blocks.
    pub const WRITE: &str = "write";
    pub const ALL: [(&str, &str); 4] = [
        (READ, "waits for a block"),
        (LOG_WRITE, "writes of the log"),
        (LOG_SYNC, "waits of sessions for the log"),
        (WRITE, "batches of writes"),
    ];
}

stored_names! {
    pub enum DeviceRequest {
        Read = "read",
        Write = "write",
        /// Of the devices that hold the log.
        Flush = "flush",
    }
}

/// Latencies of a sample of events, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SampledLatencies {
    /// One of so many was timed.
    pub one_of: u64,
    /// By kind, such as a [`DeviceRequest`] or one of [`wait_kind`]; a kind that did not happen is missing.
    pub kinds: BTreeMap<String, Latency>,
}

/// Most latencies that a record counts; the histogram adds up no more.
const MOST_COUNT: u64 = 1 << 62;

/// Records single latencies at little cost and returns them slice by slice.
#[derive(Debug)]
pub struct Recorder {
    histogram: Histogram<u64>,
    sum_ns: u64,
    max_ns: u64,
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}

impl Recorder {
    /// An empty recorder: 1 ns to one hour at two significant digits, so every bucket is within 0.8 % of its latencies.
    pub fn new() -> Self {
        let mut histogram = Histogram::new(2).unwrap_or_else(|_| unreachable!("two digits are within 0 to 5"));
        histogram.auto(true);
        Self { histogram, sum_ns: 0, max_ns: 0 }
    }

    pub fn record(&mut self, ns: u64) {
        self.record_many(ns, 1);
        self.max_ns = self.max_ns.max(ns);
    }

    pub fn record_many(&mut self, ns: u64, count: u64) {
        let kept = ns.clamp(1, LONGEST_NS);
        let count = count.min(MOST_COUNT.saturating_sub(self.histogram.len()));
        self.histogram.record_n(kept, count).unwrap_or_else(|_| unreachable!("the histogram resizes up to an hour"));
        // A stored run may hold any numbers.
        self.sum_ns = self.sum_ns.saturating_add(ns.saturating_mul(count));
    }

    pub fn merge(&mut self, other: &Latency) {
        let exact = self.sum_ns.saturating_add(other.sum_ns);
        for (ns, count) in other.buckets.iter() {
            self.record_many(ns, count);
        }
        self.sum_ns = exact;
        self.max_ns = self.max_ns.max(other.max_ns);
    }

    pub fn count(&self) -> u64 {
        self.histogram.len()
    }

    pub fn max_ns(&self) -> u64 {
        self.max_ns
    }

    pub fn mean_ns(&self) -> Option<f64> {
        (self.count() > 0).then(|| self.sum_ns as f64 / self.count() as f64)
    }

    /// The middle of each bucket, ns, and its count.
    fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        let steps = self.histogram.iter_recorded();
        steps.map(|step| (self.histogram.median_equivalent(step.value_iterated_to()), step.count_at_value()))
    }

    /// Standard deviation, by bucket, ns.
    pub fn deviation_ns(&self) -> Option<f64> {
        let count = self.count() as f64;
        let buckets = || self.buckets().map(|(ns, ops)| (ns as f64, ops as f64));
        let mean = buckets().map(|(ns, ops)| ns * ops).sum::<f64>() / count;
        let squares: f64 = buckets().map(|(ns, ops)| ops * (ns - mean).powi(2)).sum();
        (count > 1.0).then(|| (squares / count).sqrt())
    }

    /// The latency that a share `quantile` (0 to 1) of all operations does not exceed, ns.
    ///
    /// `None` if fewer than ten operations lie beyond it: such a figure would be luck (measurement rule `n (1 - p) >=
    /// 10`).
    pub fn quantile_ns(&self, quantile: f64) -> Option<u64> {
        let beyond = self.count() as f64 * (1.0 - quantile);
        (beyond >= 10.0 - 1e-6).then(|| self.histogram.value_at_quantile(quantile).min(self.max_ns))
    }

    /// Number and sum in ns of the latencies longer than `ns`; by bucket, so within 1 % at the boundary.
    pub fn beyond(&self, ns: u64) -> (u64, u64) {
        let buckets = self.histogram.iter_recorded().filter(|step| step.value_iterated_to() > ns);
        buckets.fold((0, 0), |(count, sum), step| {
            let each = self.histogram.median_equivalent(step.value_iterated_to());
            let here = step.count_at_value();
            (count.saturating_add(here), u64::saturating_add(sum, each.saturating_mul(here)))
        })
    }

    /// Returns the recorded latencies and starts again.
    pub fn drain(&mut self) -> Latency {
        let taken = Latency { buckets: self.buckets().collect(), sum_ns: self.sum_ns, max_ns: self.max_ns };
        self.histogram.reset();
        self.sum_ns = 0;
        self.max_ns = 0;
        taken
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn quantiles_are_within_one_percent(mut values in prop::collection::vec(100_u64..10_000_000_000, 200..400)) {
            let mut recorder = Recorder::new();
            for value in &values {
                recorder.record(*value);
            }
            let mut copy = Recorder::new();
            copy.merge(&recorder.drain());
            values.sort_unstable();
            let exact = values[values.len().div_ceil(2) - 1] as f64;
            let reported = copy.quantile_ns(0.5).unwrap() as f64;
            prop_assert!((reported / exact - 1.0).abs() < 0.01, "{reported} for {exact}");
            prop_assert_eq!(copy.max_ns(), values[values.len() - 1]);
        }
    }

    #[test]
    fn operations_beyond_a_latency_are_counted_and_summed() {
        let mut recorder = Recorder::new();
        recorder.record_many(1_000, 990);
        recorder.record_many(500_000, 10);
        let (count, sum) = recorder.beyond(8_000);
        assert_eq!(count, 10);
        assert!((sum as f64 / 5e6 - 1.0).abs() < 0.01, "{sum}");
        assert_eq!(recorder.beyond(1_000_000), (0, 0));
    }

    #[test]
    fn the_deviation_of_latencies_is_known_by_bucket() {
        let mut recorder = Recorder::new();
        recorder.record(100);
        assert_eq!(recorder.deviation_ns(), None);
        recorder.record(120);
        assert!((recorder.deviation_ns().unwrap() - 10.0).abs() < 1.0, "{:?}", recorder.deviation_ns());
    }

    #[test]
    fn a_percentile_without_ten_beyond_it_is_not_reported() {
        let mut recorder = Recorder::new();
        for _ in 0..9_999 {
            recorder.record(1_000);
        }
        assert_eq!(recorder.quantile_ns(0.999), None);
        recorder.record(1_000);
        assert!(recorder.quantile_ns(0.999).is_some());
    }
}
