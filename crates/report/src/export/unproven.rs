//! Numbers of a record that enter no figure, no verdict and no finding.
//!
//! A change of one of them changes nothing that mindful derives, so nothing shows it. A test changes numbers of many
//! records, and finds each change either in a file of the pack or in this list. Latencies are recorded in buckets of 1 %:
//! a change within a bucket does not count.

mod reason;
mod seen;

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mindful_analyze::Analysis;
use mindful_core::record::run::Run;
use serde_json::Value;

pub(crate) use self::reason::REASONS;
use self::reason::{HOOK, OTHERS, OUTSIDE, PLAN, RANK, REQUESTS, TARGET};
use self::seen::SeenStep;

/// The reason of events that are unproven as a whole.
fn of_event(name: &str) -> Option<&'static str> {
    match name {
        "latencies" => Some(REQUESTS),
        "busiest" | "watched" => Some(OTHERS),
        "hook" => Some(HOOK),
        "rank" | "spans" => Some(RANK),
        "on_target" => Some(TARGET),
        _ => None,
    }
}

/// Counts the numbers of a record, line by line.
#[derive(Debug)]
pub struct UnprovenNumbers {
    plan: Option<Value>,
    steps: BTreeMap<u64, SeenStep>,
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
        let steps = steps.map(|(record, step)| (record.head.step.into(), SeenStep::from_step(run, record, step)));
        Self { plan: run.asked_plan(), steps: steps.collect(), step: None, all: 0, unproven: BTreeMap::new() }
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
        let this = &*self;
        let step = this.step.and_then(|step| this.steps.get(&step));
        let of_event = of_event(name);
        let share = step.map_or(0.0, |step| step.share(event));
        let mut numbers = Vec::new();
        walk(event, &mut name.to_owned(), &mut String::new(), &mut |field, pointer| {
            let unproven = of_event.or_else(|| match (name, step) {
                ("head", _) => this.of_plan(field, pointer),
                ("step", Some(step)) => step.of_head(field, pointer),
                ("started", Some(step)) => step.of_start(field, pointer),
                ("sample", Some(step)) => step.of_sample(event, share, field, pointer),
                ("slice" | "merged_slice", Some(step)) => step.of_slice(event, share, field),
                ("started" | "sample" | "slice" | "merged_slice", None) => Some(OUTSIDE),
                _ => None,
            });
            numbers.push(RecordedNumber { field: field.to_owned(), pointer: pointer.to_owned(), unproven });
        });
        numbers
    }

    fn of_plan(&self, field: &str, pointer: &str) -> Option<&'static str> {
        let in_plan = pointer.strip_prefix("/plan")?;
        // Seed and price are figures of the summary.
        let is_shown = field == "head.plan.seed" || field.starts_with("head.plan.price");
        let follows = self.plan.as_ref().is_some_and(|plan| plan.pointer(in_plan).is_some_and(Value::is_number));
        (!is_shown && !follows).then_some(PLAN)
    }
}

/// A number of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordedNumber {
    /// Its field: `slice.report.ops[].blocks`.
    pub field: String,
    /// Its JSON pointer in the event.
    pub pointer: String,
    /// Why no figure uses it; `None` if one does.
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
                // The parts of a pair are separate fields. Writing to a string cannot fail.
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
