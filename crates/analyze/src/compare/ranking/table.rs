//! Many runs in one table, and the order of the sides among them.
//!
//! A side is two or more runs of one tag with the same workload. Ranks compare each side of a group with each other
//! one. A group of more than [`MOST_SIDES`] has no ranks, so that the work stays proportional to the number of runs.
//! Single runs are rows only: they would widen the intervals of all others, and nothing bounds their own figure.

use std::collections::BTreeMap;

use mindful_core::Result;
use mindful_core::record::run::Run;
use mindful_core::result::comparison::NamedFact;
use mindful_core::result::ranking::{RankedGroup, RankedSide, RankingSummary};

use super::group::{Group, mark_efficient, single, summary};
use super::run::{RankedRun, RunsOfSide};
use super::words::{differing_keys, group_sentence, groups, measured, measured_first};
use crate::analysis::Analysis;
use crate::compare::figure::OrderedBy;
use crate::compare::provenance::NOT_STATED;

/// Most sides of a group that have ranks.
const MOST_SIDES: usize = 40;

/// A run as a row of a table. It does not contain the record.
#[derive(Debug, Clone)]
pub struct TableRow {
    id: String,
    tag: Option<String>,
    pub measured: Vec<NamedFact>,
    run: RankedRun,
}

impl TableRow {
    /// The row of `run` under the name `id`.
    pub fn from_run(id: &str, run: &Run, analysis: &Analysis, by: OrderedBy) -> Self {
        let mut ranked = RankedRun::from_run(run, analysis, by);
        if let Ok(ordered) = &mut ranked.ordered {
            // Only a side of one run is judged by its seconds.
            ordered.value.series = Vec::new();
        }
        let alone = side(id, vec![ranked.clone()]);
        Self { id: id.to_owned(), tag: run.head.plan.tag.clone(), measured: measured(&alone), run: ranked }
    }

    pub fn place(&self) -> &[NamedFact] {
        &self.run.place
    }
}

/// Runs in groups that measured the same, and sides in order.
#[derive(Debug)]
pub struct RunTable {
    /// Each run is a side, best first in its group. `differs` contains the facts that differ from those of most runs of
    /// its group.
    pub runs: Vec<RankedGroup>,
    /// The groups of sides; empty if no group has two sides.
    pub sides: RankingSummary,
    /// Groups without ranks because they have too many sides: their workload, and the number of sides.
    pub not_ranked: Vec<(Vec<NamedFact>, usize)>,
}

/// The table of `rows`. Differences of sides up to `margin` (a share) do not matter.
///
/// # Errors
/// A figure that has no ratio.
pub fn table(rows: &[TableRow], by: OrderedBy, margin: f64) -> Result<RunTable> {
    let things: Vec<_> = rows.iter().map(|row| (&*row.measured, row.run.compared.validity)).collect();
    let is_of_tag = |at: usize, others: &[usize]| {
        let row: &TableRow = &rows[at];
        row.tag.is_some() && others.iter().any(|other| rows[*other].tag == row.tag)
    };
    let mut groups = groups(&things, is_of_tag);
    let shown = differing_keys(&groups.iter().map(|(key, _)| key.as_slice()).collect::<Vec<_>>());
    groups.sort_by(|(one, rows), (other, others)| others.len().cmp(&rows.len()).then_with(|| one.cmp(other)));
    let of_group = |members: Vec<usize>| members.into_iter().map(|at| &rows[at]).collect::<Vec<_>>();
    let groups: Vec<_> = groups.into_iter().map(|(key, members)| (key, of_group(members))).collect();
    let (mut ranked, mut not_ranked, mut sentences) = (Vec::new(), Vec::new(), Vec::new());
    for (key, rows) in &groups {
        let sides = sides(rows);
        let measured = measured_first(key.clone(), &shown);
        match sides.len() {
            0 | 1 => {}
            2..=MOST_SIDES => {
                let group = Group::from_members(&sides.iter().collect::<Vec<_>>(), by, margin, false)?;
                sentences.extend(group_sentence(by, &group));
                ranked.push(RankedGroup { measured, ..group.summary });
            }
            count => not_ranked.push((measured, count)),
        }
    }
    let runs = groups.iter().map(|(key, rows)| RankedGroup {
        measured: measured_first(key.clone(), &shown),
        sides: runs_in_order(rows, by),
        doubts: Vec::new(),
        variation: None,
        runs_to_see: Vec::new(),
    });
    Ok(RunTable { runs: runs.collect(), sides: summary(by, margin, sentences, ranked), not_ranked })
}

fn side(name: &str, runs: Vec<RankedRun>) -> RunsOfSide {
    RunsOfSide { name: name.to_owned(), runs, noise: None }
}

/// The runs of each tag that has several, the oldest first.
fn sides<'a>(rows: &[&'a TableRow]) -> Vec<RunsOfSide> {
    let mut sides: BTreeMap<&'a str, Vec<&TableRow>> = BTreeMap::new();
    for row in rows {
        if let Some(tag) = &row.tag {
            sides.entry(tag).or_default().push(row);
        }
    }
    let several = sides.into_iter().filter(|(_, rows)| rows.len() > 1);
    several
        .map(|(tag, mut rows)| {
            rows.sort_by_key(|row| &row.id);
            side(tag, rows.into_iter().map(|row| row.run.clone()).collect())
        })
        .collect()
}

/// Each run as a side. The best is first, those without a figure are last.
fn runs_in_order(rows: &[&TableRow], by: OrderedBy) -> Vec<RankedSide> {
    let mut sides: Vec<RankedSide> = rows.iter().map(|row| single(&side(&row.id, vec![row.run.clone()]), by)).collect();
    for (side, differs) in sides.iter_mut().zip(unlike_most(rows)) {
        side.differs = differs;
    }
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
    sides
}

/// For each row the facts that differ from those of most rows.
fn unlike_most(rows: &[&TableRow]) -> Vec<Vec<NamedFact>> {
    let facts: Vec<BTreeMap<&str, String>> = rows.iter().map(|row| row.run.facts.by_name()).collect();
    let mut counts: BTreeMap<&str, BTreeMap<Option<&String>, usize>> = BTreeMap::new();
    for (name, value) in facts.iter().flatten() {
        *counts.entry(name).or_default().entry(Some(value)).or_default() += 1;
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
    let usual: Vec<(&str, Option<&String>)> = usual.collect();
    let of_row = |facts: &BTreeMap<&str, String>| {
        let unlike = usual.iter().filter_map(|(name, usual)| {
            let value = facts.get(name);
            let shown = || value.cloned().unwrap_or_else(|| NOT_STATED.to_owned());
            (value != *usual).then(|| NamedFact { name: (*name).to_owned(), value: shown() })
        });
        unlike.collect()
    };
    facts.iter().map(of_row).collect()
}
