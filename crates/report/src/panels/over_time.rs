//! How a step went: throughput and p99 over its window, in one line.

use mindful_analyze::StepAnalysis;
use mindful_analyze::figures::columns::columns;
use mindful_core::record::run::StepRecord;

use crate::figure::{number, time_us};
use crate::panels::Panel;

/// Columns of time; a terminal shows at most so many.
const COLUMNS: usize = 16;
/// Fewer are no line over time.
const FEWEST: usize = 3;

/// The line of a step; `None` where its window is too short for one.
pub(crate) fn panel(record: &StepRecord, step: &StepAnalysis) -> Option<Panel> {
    let columns = columns(record, step.window.as_ref()?, COLUMNS);
    let blocks: Vec<_> = columns.iter().map(|column| column.blocks_per_s).collect();
    let p99: Vec<_> = columns.iter().map(|column| column.p99_us).collect();
    let mut figures = Vec::new();
    for (name, values, form) in [("blocks/s", blocks, number as fn(f64) -> String), ("p99", p99, time_us)] {
        if let Some(range) = range(&values, form) {
            figures.push((name.to_owned(), values, range));
        }
    }
    let seconds = columns.last()?.span_s[1];
    if columns.len() < FEWEST || figures.is_empty() {
        return None;
    }
    let mut panel = Panel::default();
    panel.blank();
    panel.over_time(format!("over {} s", number(seconds)), figures);
    Some(panel)
}

/// From the least to the greatest of those that are known.
fn range(values: &[Option<f64>], form: fn(f64) -> String) -> Option<String> {
    let known = || values.iter().flatten().copied().filter(|value| value.is_finite());
    let (least, most) = (known().reduce(f64::min)?, known().reduce(f64::max)?);
    let (least, most) = (form(least), form(most));
    Some(if least == most { most } else { format!("{least} to {most}") })
}
