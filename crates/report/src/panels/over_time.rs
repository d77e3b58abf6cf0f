//! The course of a step: throughput and p99 over its window, in one line.

use mindful_analyze::StepAnalysis;
use mindful_analyze::figures::columns::{Column, columns};
use mindful_core::record::run::StepRecord;

use crate::figure::{number, time_us};
use crate::panels::Panel;

/// Columns of time; a terminal shows at most so many.
const COLUMNS: usize = 16;
/// A shorter window does not show events that recur each minute, such as a checkpoint or the credit of a volume.
const SHOWS_PERIODS_S: f64 = 120.0;
/// Fewer are no line over time.
const FEWEST: usize = 3;

/// The line of a step; `None` if its window is too short for one.
pub(crate) fn panel(record: &StepRecord, step: &StepAnalysis) -> Option<Panel> {
    type Format = fn(f64) -> String;
    let window = step.window.as_ref()?;
    let slices = columns(record, window, usize::MAX);
    let drawn = columns(record, window, COLUMNS);
    let of_all =
        |figure: fn(&Column) -> Option<f64>| [&drawn, &slices].map(|all| all.iter().map(figure).collect::<Vec<_>>());
    let mut figures = Vec::new();
    let rates = ("blocks/s", of_all(|column| column.blocks_per_s), number as Format);
    let latencies = ("p99", of_all(|column| column.p99_us), time_us as Format);
    for (name, [line, all], form) in [rates, latencies] {
        // A swing within a column shows in the range of the slices. A percentile may need the operations of a whole column.
        if let Some(range) = range(&all, form).or_else(|| range(&line, form)) {
            figures.push((name.to_owned(), line, range));
        }
    }
    let seconds = drawn.last()?.span_s[1];
    if drawn.len() < FEWEST || figures.is_empty() {
        return None;
    }
    let mut shown = Panel::default();
    shown.blank();
    shown.over_time(format!("over {} s", number(seconds)), figures);
    let each_s = seconds / slices.len() as f64;
    if seconds < SHOWS_PERIODS_S && seconds / 2.0 >= 2.0 * each_s {
        let [least, most] = [2.0 * each_s, seconds / 2.0].map(number);
        let periods = if least == most { least } else { format!("{least} to {most}") };
        shown.add_line(&format!(
            "  This window shows periods of {periods} s; longer ones do not show, shorter ones only as stalls."
        ));
    }
    Some(shown)
}

/// The range from the least to the greatest known value.
fn range(values: &[Option<f64>], form: fn(f64) -> String) -> Option<String> {
    let known = || values.iter().flatten().copied().filter(|value| value.is_finite());
    let (least, most) = (known().reduce(f64::min)?, known().reduce(f64::max)?);
    let (least, most) = (form(least), form(most));
    Some(if least == most { most } else { format!("{least} to {most}") })
}
