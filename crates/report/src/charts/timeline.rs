//! A whole run over time: its steps on one axis, with the events between them.

use std::fmt::Write as _;

use mindful_analyze::figures::columns::{Column, columns};
use mindful_analyze::{Analysis, StepAnalysis};
use mindful_core::record::run::{HookRecord, Run, StepRecord};

use super::over_time;
use crate::drawing::frame::{Drawing, Heading};
use crate::drawing::strips::{Event, Strips};
use crate::escape::escape_to;
use crate::figure::number;

const MOST: usize = 160;
const HOOK: &str = "H";
/// Least share of the axis that was measured: a run that went on days later is no picture.
const MEASURED: f64 = 0.02;

/// A step at its start, in us of the host's clock, with its columns.
struct Part<'a> {
    record: &'a StepRecord,
    step: &'a StepAnalysis,
    begin_us: i64,
    columns: Vec<Column>,
}

impl<'a> Part<'a> {
    fn from_step((record, step): (&'a StepRecord, &'a StepAnalysis), most: usize) -> Option<Self> {
        let columns = columns(record, step.window.as_ref()?, most);
        let begin_us = step.window.as_ref()?.begin_us.checked_sub(record.clock_offset_us)?;
        (!columns.is_empty()).then_some(Self { record, step, begin_us, columns })
    }

    fn seconds(&self) -> f64 {
        self.columns.last().map_or(0.0, |column| column.span_s[1])
    }

    /// Begin and end since `zero_us`, s.
    fn span_s(&self, zero_us: i64) -> [f64; 2] {
        let begin = since(self.begin_us, zero_us);
        [begin, begin + self.seconds()]
    }
}

fn since(us: i64, zero_us: i64) -> f64 {
    us.saturating_sub(zero_us) as f64 / 1e6
}

/// The strips of all steps; `None` for a single one, and if their times are unknown.
pub(super) fn drawing(run: &Run, analysis: &Analysis) -> Option<Drawing> {
    let most = (MOST / run.steps.len().max(1)).max(1);
    let mut parts: Vec<Part> =
        run.steps.iter().zip(&analysis.steps).filter_map(|both| Part::from_step(both, most)).collect();
    parts.sort_by_key(|part| part.begin_us);
    let hooks = run.hooks.iter().map(|hook| hook.begin_us);
    let zero_us = parts.iter().map(|part| part.begin_us).chain(hooks).min()?;
    let spans: Vec<[f64; 2]> = parts.iter().map(|part| part.span_s(zero_us)).collect();
    let apart = spans.windows(2).all(|pair| pair[0][1] <= pair[1][0] + 0.01);
    let measured: f64 = parts.iter().map(Part::seconds).sum();
    let end = spans.last()?[1];
    let over = run.hooks.iter().map(|hook| since(hook.end_us, zero_us)).fold(end, f64::max);
    if parts.len() < 2 || parts.len() > MOST || !apart || measured < MEASURED * over {
        return None;
    }
    let events = events(&parts, &spans, &run.hooks, zero_us);
    let columns = joined(parts, &spans, over);
    let strips = Strips {
        heading: Heading::new(
            "timeline",
            "All steps over time",
            "All steps on one axis, each from the line with its number. A gap means no data.",
            notes(&run.hooks, &events),
        ),
        columns: columns.iter().map(|column| column.span_s).collect(),
        rows: over_time::strips(&columns, &run.words()),
        events,
    };
    Some(strips.drawing())
}

fn notes(hooks: &[HookRecord], events: &[Event]) -> String {
    let mut text = "Only measured windows are drawn, not connecting and warm-up.".to_owned();
    for hook in hooks {
        let seconds = number(since(hook.end_us, hook.begin_us).max(0.0));
        let _ = write!(text, " {HOOK}: the hook \"{}\" ran for {seconds} s.", escape_to(&hook.moment, 20));
    }
    text += &over_time::letters(events);
    if events.iter().any(|event| event.name == over_time::LEVEL) {
        let _ = write!(text, " {}: throughput changed its level.", over_time::LEVEL);
    }
    text
}

/// The columns of all parts, with one for the gap before each but the first, and one for the time from the last to `end`.
fn joined(parts: Vec<Part>, spans: &[[f64; 2]], end: f64) -> Vec<Column> {
    let gap = |columns: &[Column], to: f64| {
        let from = columns.last()?.span_s[1];
        Some(Column { span_s: [from, to.max(from)], ..Column::default() })
    };
    let mut columns = Vec::new();
    for (part, [begin, _]) in parts.into_iter().zip(spans) {
        columns.extend(gap(&columns, *begin));
        let shifted = |column: Column| Column { span_s: column.span_s.map(|s| s + begin), ..column };
        columns.extend(part.columns.into_iter().map(shifted));
    }
    columns.extend(gap(&columns, end).filter(|gap| gap.span_s[0] < end));
    columns
}

/// Starts of steps, hooks, and events within each step.
fn events(parts: &[Part], spans: &[[f64; 2]], hooks: &[HookRecord], zero_us: i64) -> Vec<Event> {
    let mut events = Vec::new();
    for hook in hooks {
        events.push(Event::new([since(hook.begin_us, zero_us), since(hook.end_us, zero_us)], HOOK));
    }
    for (part, [begin, _]) in parts.iter().zip(spans) {
        let number = u64::from(part.record.head.step) + 1;
        events.push(Event { edge: true, ..Event::new([*begin; 2], &number.to_string()) });
        let within = over_time::events(part.record, part.step, &part.columns).0;
        events.extend(within.into_iter().map(|event| Event { span_s: event.span_s.map(|s| s + begin), ..event }));
    }
    events
}
