//! Lines of a record that contradict themselves.
//!
//! A slice contains its operations twice: as a number, and as latencies with their sum and maximum. Every engine keeps both
//! equal, so a slice in which they differ was changed after it was written. Plan and workloads are numbers that follow from
//! the settings, which are text (`Run::asked_plan`).

use mindful_core::contract::slice::{OpReport, SliceReport};
use mindful_core::record::latency::Latency;
use mindful_core::record::run::{Run, StepRecord};
use mindful_core::result::Finding;
use mindful_core::result::finding::codes;
use serde_json::{Map, Value};

use crate::writer::to_value;

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
            self.add(format!("step {}, slice {}: {what}", step + 1, report.index));
        }
    }

    /// Compares the numbers of the plan and of the steps with the settings.
    pub(crate) fn compare_with_settings(&mut self, run: &Run) {
        let differ =
            |asked: Option<Value>, stored: Option<Value>| asked.zip(stored).and_then(|(a, b)| difference(&a, &b));
        if let Some(what) = differ(run.asked_plan(), to_value(&run.head.plan).ok()) {
            self.add(format!("the plan has {what} by its settings"));
        }
        for (at, step) in (0_u32..).zip(&run.steps) {
            if step.head.step != at {
                self.add(format!("step {} is stored as step {}", at + 1, step.head.step + 1));
            }
            if let Some(what) = differ(run.asked_step(step), work_of(step)) {
                self.add(format!("step {} has {what} by the settings", at + 1));
            }
        }
    }

    fn add(&mut self, what: String) {
        self.count += 1;
        if self.named.len() < NAMED {
            self.named.push(what);
        }
    }

    pub(crate) fn finding(&self) -> Option<Finding> {
        let text = "The record contradicts itself, so it was changed. Import the run from the host that measured it.";
        let more = self.count - self.named.len();
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        (self.count > 0).then(|| codes::EDITED.finding(text, format!("{}{more}", self.named.join("; "))))
    }
}

fn work_of(step: &StepRecord) -> Option<Value> {
    let head = to_value(&step.head).ok()?;
    let parts = ["workload", "placements"].map(|part| (part.to_owned(), head[part].clone()));
    Some(Map::from_iter(parts).into())
}

/// The first number that differs between `asked` and `stored`: `work_unit 64 instead of 32`.
fn difference(asked: &Value, stored: &Value) -> Option<String> {
    match (asked, stored) {
        (Value::Number(asked), stored) => {
            let differs = stored.as_number().is_none_or(|stored| stored.as_f64() != asked.as_f64());
            differs.then(|| format!("{stored} instead of {asked}"))
        }
        (Value::Object(fields), Value::Object(others)) => fields.iter().find_map(|(name, value)| {
            let what = difference(value, others.get(name)?)?;
            Some(format!("{name} {what}"))
        }),
        (Value::Array(values), Value::Array(others)) if values.len() == others.len() => {
            values.iter().zip(others).find_map(|(value, other)| difference(value, other))
        }
        (Value::Array(values), Value::Array(others)) => Some(format!("{} instead of {}", others.len(), values.len())),
        _ => None,
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
