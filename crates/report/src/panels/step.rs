//! Single steps for a person: the figure first, then its limit, and the evidence for both; the course of a step, and work
//! for the price.

use mindful_analyze::figures::columns::{Column, columns};
use mindful_analyze::{Analysis, StepAnalysis};
use mindful_core::plan::Price;
use mindful_core::record::run::{Run, StepRecord};
use mindful_core::result::StepSummary;

use crate::card::{self, NO_FIGURE};
use crate::escape;
use crate::figure::{number, range, time_us};
use crate::panels::{Panel, facts, figures, ranks};
use crate::style::Detail;

pub(crate) fn panels(run: &Run, analysis: &Analysis, detail: Detail) -> Vec<Panel> {
    let mut panels = each_step(run, analysis, detail);
    if detail == Detail::Short {
        panels.push(facts::in_brief(run, analysis));
    }
    panels
}

fn each_step(run: &Run, analysis: &Analysis, detail: Detail) -> Vec<Panel> {
    let all = analysis.steps.len();
    let of_step = |(at, step): (usize, &StepAnalysis)| {
        let mut place = Panel::default();
        if all > 1 {
            place.heading(&card::place(step, at + 1, all));
        }
        let mut panels = vec![place, headline(step), figures::operations(step)];
        panels.extend(run.steps.get(at).and_then(|record| over_time(record, step)));
        panels.push(figures::ledger(step, detail));
        if detail == Detail::Full {
            panels.extend([figures::reads(step), figures::time(step), figures::cpu(step)]);
        }
        panels.push(ranks::targets(&step.summary, &step.evidence.words));
        panels.push(ranks::panel(&step.summary, detail));
        panels.push(price(analysis.summary.price.as_ref(), &step.summary));
        panels
    };
    analysis.steps.iter().enumerate().flat_map(of_step).collect()
}

/// The figure of a step, its limit, and the next step.
pub(crate) fn headline(step: &StepAnalysis) -> Panel {
    let mut page = Panel::default();
    page.blank();
    match step.headline.as_ref().zip(card::figure(step)) {
        Some((headline, figure)) => {
            page.figure(figure);
            page.wrapped(2, &escape(&headline.why));
        }
        None => page.add_line(&format!("  {NO_FIGURE}")),
    }
    if let Some(verdict) = &step.verdict {
        page.blank();
        page.wrapped(2, &card::limit_with_evidence(verdict));
        page.wrapped(2, &card::next(verdict));
    }
    page
}

/// Columns of time; a terminal shows at most so many.
const COLUMNS: usize = 16;
/// A shorter window does not show events that recur each minute, such as a checkpoint or the credit of a volume.
const SHOWS_PERIODS_S: f64 = 120.0;
/// Fewer are no line over time.
const FEWEST: usize = 3;

/// The line of a step; `None` if its window is too short for one.
fn over_time(record: &StepRecord, step: &StepAnalysis) -> Option<Panel> {
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
        if let Some(range) = range(all, form).or_else(|| range(line.iter().copied(), form)) {
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

/// One line; empty without a price.
fn price(price: Option<&Price>, step: &StepSummary) -> Panel {
    let mut page = Panel::default();
    let Some(price) = price else { return page };
    let bought = &step.per_price;
    let parts = [
        (bought.operations, "operations"),
        (bought.logical_reads, "logical reads"),
        (bought.physical_reads, "physical reads"),
    ];
    let parts: Vec<_> =
        parts.into_iter().filter_map(|(count, what)| Some(format!("{} {what}", number(count?)))).collect();
    if !parts.is_empty() {
        page.blank();
        let month = format!("{} {} a month of 730 hours", number(price.per_month()), price.currency);
        let details = Some(price.details()).filter(|details| !details.is_empty());
        page.wrapped(
            2,
            &format!("price: {}", [Some(month), details].into_iter().flatten().collect::<Vec<_>>().join(", ")),
        );
        page.wrapped(2, &format!("at {price} an hour, 1 {} buys {}", price.currency, parts.join(", ")));
    }
    page
}

/// The step of a ladder that does most for the money.
pub(crate) fn most_for_price(price: &Price, steps: &[&StepSummary]) -> Option<String> {
    let bought = |step: &&StepSummary| step.per_price.operations.zip(step.sessions);
    let (operations, sessions) = steps.iter().filter_map(bought).max_by(|a, b| a.0.total_cmp(&b.0))?;
    let (operations, currency) = (number(operations), &price.currency);
    Some(format!("at {price} an hour, 1 {currency} buys {operations} operations at most, with {sessions} sessions"))
}
