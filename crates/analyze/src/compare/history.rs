//! Where a series of runs of one plan changed its level.

use mindful_core::record::run::Run;
use mindful_core::result::comparison::HistorySummary;
pub use mindful_core::result::comparison::LevelChange;
use mindful_core::{Error, Result};

use super::answer::Side;
use super::comparable;
use super::figure::ComparedFigure;
use super::sides::{compared_runs, value_of_run};
use crate::analysis::Analysis;
use crate::stats::moment::mean;
use crate::stats::random::Random;
use crate::stats::series::{Split, best_split, splits};

const SEED: u64 = 1;

/// Fewest runs between two changes.
const SHORTEST: usize = 3;

/// Fewest runs in which a change can be found: eight cannot reach the p.
pub(crate) const FEWEST_OF_A_HISTORY: usize = 10;

const SIGNIFICANT: f64 = 0.01;

const PERMUTATIONS: u32 = 999;

#[derive(Debug)]
pub struct History {
    /// The runs, oldest first.
    pub runs: Side,
    pub values: Vec<f64>,
    pub changes: Vec<LevelChange>,
}

impl History {
    /// The history of `runs`; differences up to `margin` (a share) do not count.
    ///
    /// # Errors
    /// A run of several steps, a run without the figure, or runs that are not comparable, unless `force`.
    pub fn from_runs(mut runs: Side, figure: ComparedFigure, margin: f64, force: bool) -> Result<Self> {
        runs.sort_by(|a, b| a.0.head.started_at.cmp(&b.0.head.started_at));
        runs.dedup_by(|a, b| a.0.head.id == b.0.head.id);
        if let Some((first, later)) = runs.split_first().filter(|_| !force) {
            for (run, _) in later {
                let differing = comparable::differences([&[&first.0], &[run]]);
                if let Some(d) = differing.first() {
                    return Err(Error::plan(
                        format!("run {} differs from {} in {} ({})", run.head.id, first.0.head.id, d.fact, d.sides()),
                        "choose similar runs, or pass --force if the difference is the question",
                    ));
                }
            }
        }
        let value = |(run, analysis): &(Run, Analysis)| {
            value_of_run(analysis, figure).filter(|value| *value > 0.0).ok_or_else(|| {
                let what = format!("run {} does not have exactly one step with that figure", run.head.id);
                Error::plan(what, "choose runs of one plan and one step")
            })
        };
        let values = runs.iter().map(value).collect::<Result<Vec<f64>>>()?;
        let changes = level_changes(&values, margin);
        Ok(Self { runs, values, changes })
    }

    /// The last level by the first. The first is the baseline: no later improvement, which may be a false one, moves it.
    pub fn last_by_first(&self) -> f64 {
        match (self.changes.first(), self.changes.last()) {
            (Some(first), Some(last)) => last.after / first.before,
            _ => 1.0,
        }
    }

    pub fn summary(&self) -> HistorySummary {
        HistorySummary {
            format: 1,
            runs: compared_runs(&self.runs, None),
            values: self.values.clone(),
            changes: self.changes.clone(),
            last_by_first: self.last_by_first(),
        }
    }
}

/// Finds changes of level in `values`, on logarithms. There is one value above zero for each run, in order. A split is
/// kept if few permutations do as well and the levels differ by more than `margin` (a share). Runs are independent, so
/// they are permuted directly; fewer than [`FEWEST_OF_A_HISTORY`] cannot reach the p.
fn level_changes(values: &[f64], margin: f64) -> Vec<LevelChange> {
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let mut random = Random::new(SEED, "permutations of a history");
    let p_of = |before: &[f64], after: &[f64], separation: f64| {
        let apart = mean(after)? - mean(before)?;
        let mut drawn = [before, after].concat();
        let as_good = (0..PERMUTATIONS).filter(|_| {
            random.shuffle(&mut drawn);
            best_split(&drawn, SHORTEST).is_some_and(|(_, drawn)| drawn >= separation)
        });
        let p = (as_good.count() + 1) as f64 / f64::from(PERMUTATIONS + 1);
        (p < SIGNIFICANT && apart.abs() > margin.ln_1p()).then_some(p)
    };
    let change =
        |split: Split| LevelChange { at: split.at, before: split.before.exp(), after: split.after.exp(), p: split.p };
    splits(&logs, SHORTEST, p_of).into_iter().map(change).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(random: &mut Random, levels: &[(usize, f64)]) -> Vec<f64> {
        let of = |&(count, level): &(usize, f64)| vec![level; count];
        levels.iter().flat_map(of).map(|level| level * (0.015 * random.normal()).exp()).collect()
    }

    #[test]
    fn a_known_step_is_found_at_its_run_with_both_levels() {
        let mut random = Random::new(3, "steps");
        for _ in 0..20 {
            let values = runs(&mut random, &[(10, 1e4), (8, 0.9e4), (10, 1.05e4)]);
            let changes = level_changes(&values, 0.03);
            assert_eq!(changes.iter().map(|c| c.at).collect::<Vec<_>>(), [10, 18], "{changes:?}");
            assert!((changes[0].after / changes[0].before - 0.9).abs() < 0.03, "{changes:?}");
        }
    }

    #[test]
    fn similar_runs_or_few_runs_show_no_change_of_level() {
        let mut random = Random::new(4, "level");
        let false_alarms = (0..100).filter(|_| !level_changes(&runs(&mut random, &[(20, 1e4)]), 0.0).is_empty());
        let false_alarms = false_alarms.count();
        assert!(false_alarms <= 4, "{false_alarms} of 100");
        assert!(level_changes(&runs(&mut random, &[(3, 1e4), (3, 5e3)]), 0.03).is_empty());
        assert!(level_changes(&[], 0.03).is_empty());
    }
}
