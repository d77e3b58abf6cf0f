//! Numbers of a record that enter no figure, no verdict and no finding.
//!
//! A change of one of them changes nothing that mindful derives, so nothing shows it. A test changes numbers of many
//! records, and finds each change either in a file of the pack or in this list.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mindful_analyze::{Analysis, StepAnalysis};
use mindful_core::record::run::{Run, StepRecord};
use serde_json::Value;

/// Fields that enter no figure, or not with each digit, by the beginning of their names.
pub const FIELDS: [(&str, &str); 24] = [
    ("head.plan", "the plan as numbers; the page shows its settings as text"),
    ("step.step", "the number of a step"),
    ("step.placements", "which session used which schema"),
    ("step.workload", "the workload as numbers; the page shows its settings as text"),
    ("step.warmup_slices", "warm-up slices of a step without any"),
    ("started", "times of slices, and the difference of two clocks"),
    ("sample", "readings of counters that enter no figure, and their times and costs"),
    ("latencies", "device requests that enter no figure"),
    ("busiest", "processes that did not decide a finding"),
    ("watched", "readings of circumstances that did not change"),
    ("hook", "begin and end of a hook"),
    ("rank", "clocks and CPU time of a rank"),
    ("spans", "begin and end of the work of each session"),
    (BEGIN, TIMES),
    (END, TIMES),
    ("slice.report.think_us", "time spent thinking"),
    ("slice.report.cpu_us", "CPU time of a session"),
    ("slice.report.writer_wait_us", "waits of a session for another writer"),
    ("slice.report.long", "single long operations without a stall"),
    ("slice.report.ops[].latency.max_ns", LONGEST),
    ("slice.report.ops[].response.max_ns", LONGEST),
    ("slice.report.ops[].latency.buckets[][0]", "single latencies; their number is known, and their sum to 1 %"),
    ("slice.report.ops[].response.buckets[][0]", "single response times; their number is known, and their sum to 1 %"),
    ("on_target", "one target of several; the page shows their totals"),
];

const BEGIN: &str = "slice.report.begin_us";
const END: &str = "slice.report.end_us";
const TIMES: &str = "times of slices";
const LONGEST: &str = "the longest latency of a slice, which is known to 1 %";

/// What is said of lines outside the measured window.
pub const OUTSIDE: &str = "slices and readings outside the measured window";

/// Counts the numbers of a record, line by line.
#[derive(Debug)]
pub struct UnprovenNumbers {
    /// First and last boundary of the window of each step.
    windows: BTreeMap<u64, Option<(u64, u64)>>,
    step: Option<u64>,
    /// Numbers in all.
    pub all: u64,
    /// Numbers that may enter no figure, by why.
    pub unproven: BTreeMap<&'static str, u64>,
}

impl UnprovenNumbers {
    /// Nothing is counted yet of the record of `run`.
    pub fn of_run(run: &Run, analysis: &Analysis) -> Self {
        let steps = run.steps.iter().zip(&analysis.steps);
        let window = |(record, step): (&StepRecord, &StepAnalysis)| {
            let ends = step.window.map(|window| (window.first_boundary.into(), window.last_boundary.into()));
            (u64::from(record.head.step), ends)
        };
        Self { windows: steps.map(window).collect(), step: None, all: 0, unproven: BTreeMap::new() }
    }

    /// Counts the numbers of a line.
    pub fn add_line(&mut self, line: &str) {
        let Ok(event) = serde_json::from_str::<Value>(line) else { return };
        for number in self.numbers(&event) {
            self.all += 1;
            if let Some(why) = number.unproven {
                *self.unproven.entry(why).or_default() += 1;
            }
        }
    }

    /// The numbers of the next event of the record.
    pub fn numbers(&mut self, event: &Value) -> Vec<RecordedNumber> {
        let name = event["event"].as_str().unwrap_or_default();
        if name == "step" {
            self.step = event["step"].as_u64();
        }
        let outside = self.is_outside(name, event).then_some(OUTSIDE);
        let mut numbers = Vec::new();
        walk(event, &mut name.to_owned(), &mut String::new(), &mut |field, pointer| {
            // Slices of several sessions in one have the fields of a slice, and sums of their own.
            let of_slice = field.strip_prefix("merged_").unwrap_or(field);
            let is_sum = field.starts_with("merged_slice.") && !field.starts_with("merged_slice.report.ops");
            let listed = || FIELDS.iter().find(|(begin, _)| of_slice.starts_with(begin)).map(|(_, why)| *why);
            let listed = || listed().or(is_sum.then_some(TIMES));
            let unproven = outside.or_else(listed);
            numbers.push(RecordedNumber { field: field.to_owned(), pointer: pointer.to_owned(), unproven });
        });
        numbers
    }

    /// Whether an event is a slice or a reading outside the measured window of its step.
    fn is_outside(&self, name: &str, event: &Value) -> bool {
        let window = self.step.and_then(|step| self.windows.get(&step).copied().flatten());
        let (at, is_slice) = match name {
            "slice" | "merged_slice" => (event["report"]["index"].as_u64(), true),
            "sample" | "latencies" | "busiest" | "watched" => (event["boundary"].as_u64(), false),
            _ => return false,
        };
        let Some((at, (first, last))) = at.zip(window) else { return true };
        !(first..last).contains(&at) && (is_slice || at != last)
    }
}

/// A number of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedNumber {
    /// Its field: `slice.report.ops[].blocks`.
    pub field: String,
    /// Its JSON pointer in the event.
    pub pointer: String,
    /// Why it may enter no figure; `None` if it does.
    pub unproven: Option<&'static str>,
}

/// Passes the field and the JSON pointer of each number in `value` to `each`.
fn walk(value: &Value, field: &mut String, pointer: &mut String, each: &mut dyn FnMut(&str, &str)) {
    let (fields, pointers) = (field.len(), pointer.len());
    match value {
        Value::Number(_) => each(field, pointer),
        Value::Object(members) => {
            for (name, member) in members {
                field.push('.');
                field.push_str(name);
                pointer.push('/');
                pointer.push_str(&name.replace('~', "~0").replace('/', "~1"));
                walk(member, field, pointer, each);
                field.truncate(fields);
                pointer.truncate(pointers);
            }
        }
        Value::Array(items) => {
            for (at, item) in items.iter().enumerate() {
                // The parts of a pair are fields of their own. Writing to a string cannot fail.
                let _ = if field.ends_with(']') { write!(field, "[{at}]") } else { write!(field, "[]") };
                let _ = write!(pointer, "/{at}");
                walk(item, field, pointer, each);
                field.truncate(fields);
                pointer.truncate(pointers);
            }
        }
        _ => {}
    }
}
