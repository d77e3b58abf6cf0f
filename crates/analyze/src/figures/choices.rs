//! Realised shares of the workload's choices, single and combined.

use std::collections::BTreeMap;

use mindful_core::contract::slice::Tally;
use mindful_core::record::run::StepRecord;
use mindful_core::result::ChoicesSummary;

/// Bits of a [`Tally`]'s cells, by name.
const CHOICES: [(u8, &str); 5] = [(1, "update"), (2, "scan"), (4, "hot_spot"), (8, "hot_schema"), (16, "think")];

/// The realised shares of all operations of the window's slices; `None` if the engine does not tally.
pub(crate) fn choices(step: &StepRecord) -> Option<ChoicesSummary> {
    let mut cells = Tally::default();
    for report in step.reports().filter(|report| report.index >= step.head.warmup_slices) {
        for (cell, count) in &report.tally.0 {
            cells.add(*cell, *count);
        }
    }
    let all: u64 = cells.0.iter().fold(0, |all, (_, count)| all.saturating_add(*count));
    let percent = |count: u64| 100.0 * count as f64 / all as f64;
    let with = |bit: u8| {
        cells.0.iter().filter(|(cell, _)| cell & bit != 0).fold(0_u64, |all, (_, count)| all.saturating_add(*count))
    };
    (all > 0).then(|| ChoicesSummary {
        operations: all,
        alone_pct: CHOICES.iter().map(|(bit, name)| ((*name).to_owned(), percent(with(*bit)))).collect(),
        joint_pct: cells.0.iter().map(|(cell, count)| (name(*cell), percent(*count))).collect::<BTreeMap<_, _>>(),
    })
}

/// `update+hot_spot`; `select` for a read without further choices.
fn name(cell: u8) -> String {
    let chosen: Vec<_> = CHOICES.iter().filter(|(bit, _)| cell & bit != 0).map(|(_, name)| *name).collect();
    if chosen.is_empty() { "select".to_owned() } else { chosen.join("+") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_named_by_all_it_holds() {
        assert_eq!(
            (name(0), name(5), name(24)),
            ("select".into(), "update+hot_spot".into(), "hot_schema+think".into())
        );
    }
}
