//! Many runs in one table: what a ranking says of each side, without ranks.
//!
//! Ranks compare each side with each other one, so their cost grows with the square of the sides. Of hundreds of runs
//! most are alone on their side and could not be told apart anyway. The remaining cost is the same for each run.

use std::collections::BTreeMap;

use mindful_core::result::ranking::{NamedFact, RankedGroup, RankedSide};

use super::{NOT_STATED, NamedSide, differing_keys, mark_efficient, measured, measured_first, single};
use crate::compare::OrderedBy;
use crate::compare::comparable;

/// A run as a row of a table.
#[derive(Debug, Clone)]
pub struct TableRow {
    /// What it measured.
    pub measured: Vec<NamedFact>,
    /// The side, without ranks and without what depends on other sides.
    pub side: RankedSide,
    facts: BTreeMap<String, String>,
}

impl TableRow {
    /// The row of `side`, a side of one run.
    pub fn from_side(side: &NamedSide, by: OrderedBy) -> Self {
        let facts = side.runs.first().map(|(run, _)| comparable::all_facts(run)).unwrap_or_default();
        Self { measured: measured(&side.runs), side: single(side, by), facts }
    }
}

/// Groups of rows that measured the same. The best row is first in its group, rows without a figure are last. `differs` of a
/// row contains the facts that are unlike those of most rows of its group.
pub fn table(rows: Vec<TableRow>, by: OrderedBy) -> Vec<RankedGroup> {
    let mut groups: BTreeMap<Vec<NamedFact>, Vec<TableRow>> = BTreeMap::new();
    for row in rows {
        groups.entry(row.measured.clone()).or_default().push(row);
    }
    let keys: Vec<(Vec<NamedFact>, Vec<usize>)> = groups.keys().map(|key| (key.clone(), Vec::new())).collect();
    let shown = differing_keys(&keys);
    let group = |(measured, mut rows): (Vec<NamedFact>, Vec<TableRow>)| {
        add_differences(&mut rows);
        let mut sides: Vec<RankedSide> = rows.into_iter().map(|row| row.side).collect();
        sides.sort_by(|a, b| {
            let known = b.value.is_some().cmp(&a.value.is_some());
            let [a, b] = [a, b].map(|side| side.value.unwrap_or_default());
            known.then(if by.higher_is_better() { b.total_cmp(&a) } else { a.total_cmp(&b) })
        });
        let best = sides.first().and_then(|side| side.value);
        for side in &mut sides {
            side.by_best = side.value.zip(best).map(|(value, best)| value / best);
        }
        mark_efficient(&mut sides, by);
        let measured = measured_first(measured, &shown);
        RankedGroup { measured, sides, doubts: Vec::new(), variation: None, runs_to_see: Vec::new() }
    };
    let mut all: Vec<RankedGroup> = groups.into_iter().map(group).collect();
    all.sort_by_key(|group| std::cmp::Reverse(group.sides.len()));
    all
}

/// Adds to each row the facts that are unlike those of most rows.
fn add_differences(rows: &mut [TableRow]) {
    let mut counts: BTreeMap<String, BTreeMap<Option<String>, usize>> = BTreeMap::new();
    for (name, value) in rows.iter().flat_map(|row| &row.facts) {
        *counts.entry(name.clone()).or_default().entry(Some(value.clone())).or_default() += 1;
    }
    for values in counts.values_mut() {
        let known: usize = values.values().sum();
        if known < rows.len() {
            values.insert(None, rows.len() - known);
        }
    }
    let usual = counts.into_iter().filter(|(_, values)| values.len() > 1).filter_map(|(name, values)| {
        values.into_iter().max_by_key(|(_, count)| *count).map(|(value, _)| (name, value))
    });
    let usual: BTreeMap<String, Option<String>> = usual.collect();
    for row in rows {
        let unlike = usual.iter().filter_map(|(name, usual)| {
            let value = row.facts.get(name);
            let shown = || value.cloned().unwrap_or_else(|| NOT_STATED.to_owned());
            (value != usual.as_ref()).then(|| NamedFact { name: name.clone(), value: shown() })
        });
        row.side.differs = unlike.collect();
    }
}
