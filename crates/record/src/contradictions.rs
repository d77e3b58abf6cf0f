//! Lines of a record that contradict themselves.
//!
//! A slice contains its operations twice: as a number, and as latencies with their sum and maximum. Every engine keeps both
//! equal, so a slice in which they differ was changed after it was written.

use mindful_core::contract::slice::{OpReport, SliceReport};
use mindful_core::record::latency::Latency;
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;

/// A latency is known by its bucket to this share.
const BUCKET: f64 = 0.01;
/// So many contradictions are named.
const NAMED: usize = 5;

/// Contradictions of a record so far.
#[derive(Debug, Default)]
pub(crate) struct Contradictions {
    named: Vec<String>,
    count: usize,
}

impl Contradictions {
    /// Checks a slice of `step`.
    pub(crate) fn look_at(&mut self, step: u32, report: &SliceReport) {
        for what in report.ops.iter().filter_map(contradiction) {
            self.count += 1;
            if self.named.len() < NAMED {
                self.named.push(format!("step {}, slice {}: {what}", step + 1, report.index));
            }
        }
    }

    pub(crate) fn finding(&self) -> Option<Finding> {
        let text = "The record contradicts itself, so it was changed. Import the run from the host that measured it.";
        let more = self.count - self.named.len();
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        (self.count > 0).then(|| codes::EDITED.finding(text, format!("{}{more}", self.named.join("; "))))
    }
}

fn contradiction(op: &OpReport) -> Option<String> {
    std::iter::once(&op.latency).chain(&op.response).find_map(|latency| of_latency(op.ops, latency))
}

fn of_latency(ops: u64, latency: &Latency) -> Option<String> {
    let counted = latency.count();
    if counted != ops {
        return Some(format!("{ops} operations, and latencies of {counted}"));
    }
    let by_bucket: f64 = latency.buckets.iter().map(|(ns, count)| ns as f64 * count as f64).sum();
    let sum = latency.sum_ns as f64;
    if (by_bucket - sum).abs() > BUCKET * sum {
        return Some(format!("the sum of the latencies is {sum} ns, by their buckets {by_bucket} ns"));
    }
    let longest = latency.buckets.iter().map(|(ns, _)| ns).max().unwrap_or_default() as f64;
    let most = latency.max_ns as f64;
    let is_within = (longest - most).abs() <= BUCKET * most;
    (!is_within).then(|| format!("the longest latency is {most} ns, in the bucket of {longest} ns"))
}
