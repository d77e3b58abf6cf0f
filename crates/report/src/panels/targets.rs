//! The targets of a step with several: the work of each, and whether its figures may be quoted.

use mindful_core::contract::description::Words;
use mindful_core::result::{StepSummary, TargetSummary};

use crate::escape;
use crate::figure::{UNKNOWN, count, maybe, percent};
use crate::panels::Panel;
use crate::panels::sweep::limit;
use crate::table::{Side, Table};

/// A line for each; nothing where there is one.
pub(crate) fn panel(step: &StepSummary, words: &Words) -> Panel {
    let mut page = Panel::default();
    if !step.targets.is_empty() {
        page.blank();
        page.table(table(step, words));
    }
    page
}

fn table(step: &StepSummary, words: &Words) -> Table {
    let mut table = Table::new(&[
        ("target", Side::Left),
        ("sessions", Side::Right),
        ("blocks/s", Side::Right),
        ("physical reads/s", Side::Right),
        ("hits", Side::Right),
        ("read p99 us", Side::Right),
        ("limited by", Side::Left),
        ("verdict", Side::Left),
    ]);
    for (number, target) in (1..).zip(&step.targets) {
        table.row(row(&format!("{number} {}", escape(&target.target)), target, words));
    }
    table
}

fn row(name: &str, target: &TargetSummary, words: &Words) -> Vec<String> {
    let step = &target.step;
    let reads = step.ops.select.as_ref().and_then(|select| select.p99_us);
    vec![
        name.to_owned(),
        count(step.sessions),
        maybe(step.blocks_visited_per_s),
        maybe(step.physical_reads_per_s),
        percent(step.hit_ratio),
        maybe(reads),
        step.limited_by.as_ref().map_or_else(|| UNKNOWN.to_owned(), |by| limit(by, words)),
        target.validity.name().to_owned(),
    ]
}
