//! The targets of a step with several: the work of each, and whether its figures may be quoted.

use mindful_core::contract::description::Words;
use mindful_core::result::{StepSummary, TargetSummary};

use crate::escape;
use crate::figure::{count, maybe, percent};
use crate::panels::Panel;
use crate::panels::sweep::limit;
use crate::table::Side::{Left, Right};
use crate::table::{Column, Table};

/// A line for each; nothing where there is one.
pub(crate) fn panel(step: &StepSummary, words: &Words) -> Panel {
    let reads = |target: &TargetSummary| target.step.ops.select.as_ref().and_then(|select| select.p99_us);
    let targets: Vec<(usize, &TargetSummary)> = (1..).zip(&step.targets).collect();
    let columns: &[Column<(usize, &TargetSummary)>] = &[
        ("target", Left, &|(number, target)| format!("{number} {}", escape(&target.target))),
        ("sessions", Right, &|(_, target)| count(target.step.sessions)),
        ("blocks/s", Right, &|(_, target)| maybe(target.step.blocks_visited_per_s)),
        ("physical reads/s", Right, &|(_, target)| maybe(target.step.physical_reads_per_s)),
        ("hits", Right, &|(_, target)| percent(target.step.hit_ratio)),
        ("read p99 us", Right, &|(_, target)| maybe(reads(target))),
        ("limited by", Left, &|(_, target)| limit(target.step.limited_by.as_deref(), words)),
        ("verdict", Left, &|(_, target)| target.validity.name().to_owned()),
    ];
    let mut page = Panel::default();
    page.table_below(Table::of(&targets, columns));
    page
}
