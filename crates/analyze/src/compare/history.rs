//! Where a series of runs of one plan changed its level.

use mindful_core::result::comparison::HistorySummary;
pub use mindful_core::result::comparison::LevelChange;

use mindful_core::{Error, Result};

use super::comparable;
use super::figure::ComparedFigure;
use super::runs::Side;
use super::sides::{compared_runs, value_of_run};
use crate::stats::moment::mean;
use crate::stats::random::Random;

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
        let mut values = Vec::new();
        for (run, analysis) in &runs {
            values.push(value_of_run(analysis, figure).filter(|value| *value > 0.0).ok_or_else(|| {
                Error::plan(
                    format!("run {} does not have exactly one step with that figure", run.head.id),
                    "choose runs of one plan and one step",
                )
            })?);
        }
        let changes = level_changes(&values, margin, SEED);
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

/// Finds changes of level in `values` by E-Divisive with means (Matteson and James 2014) on logarithms. There is one
/// value above zero for each run, in order. The best split of the means is kept if few permutations do as well and the
/// levels differ by more than `margin` (a share). Then both sides are searched in the same way. Runs are independent,
/// so they are permuted directly; fewer than [`FEWEST_OF_A_HISTORY`] cannot reach the p.
pub(crate) fn level_changes(values: &[f64], margin: f64, seed: u64) -> Vec<LevelChange> {
    let logs: Vec<f64> = values.iter().map(|value| value.ln()).collect();
    let mut random = Random::new(seed, "permutations of a history");
    let mut found = Vec::new();
    search(&logs, 0, margin.ln_1p(), &mut random, &mut found);
    found.sort_by_key(|(at, _)| *at);
    let boundaries: Vec<usize> = [0].into_iter().chain(found.iter().map(|f| f.0)).chain([logs.len()]).collect();
    let level = |i: usize| mean(&logs[boundaries[i]..boundaries[i + 1]]).unwrap_or(0.0).exp();
    let change =
        |(i, (at, p)): (usize, &(usize, f64))| LevelChange { at: *at, before: level(i), after: level(i + 1), p: *p };
    found.iter().enumerate().map(change).collect()
}

fn search(logs: &[f64], offset: usize, margin: f64, random: &mut Random, found: &mut Vec<(usize, f64)>) {
    let Some((at, separation)) = best_split(logs) else { return };
    let (before, after) = logs.split_at(at);
    let apart = mean(after).unwrap_or(0.0) - mean(before).unwrap_or(0.0);
    let mut drawn = logs.to_vec();
    let as_good = (0..PERMUTATIONS).filter(|_| {
        random.shuffle(&mut drawn);
        best_split(&drawn).is_some_and(|(_, drawn)| drawn >= separation)
    });
    let p = (as_good.count() + 1) as f64 / f64::from(PERMUTATIONS + 1);
    if p < SIGNIFICANT && apart.abs() > margin {
        found.push((offset + at, p));
        search(before, offset, margin, random, found);
        search(after, offset + at, margin, random, found);
    }
}

/// The split with the largest `n1 n2 / n (mean1 - mean2)^2`, and that figure.
fn best_split(logs: &[f64]) -> Option<(usize, f64)> {
    let n = logs.len();
    let splits = SHORTEST..(n + 1).checked_sub(SHORTEST)?;
    let separation = |at: usize| {
        let (before, after) = logs.split_at(at);
        let apart = mean(before).unwrap_or(0.0) - mean(after).unwrap_or(0.0);
        (at * (n - at)) as f64 / n as f64 * apart * apart
    };
    splits.map(|at| (at, separation(at))).max_by(|a, b| a.1.total_cmp(&b.1))
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
            let changes = level_changes(&values, 0.03, 1);
            assert_eq!(changes.iter().map(|c| c.at).collect::<Vec<_>>(), [10, 18], "{changes:?}");
            assert!((changes[0].after / changes[0].before - 0.9).abs() < 0.03, "{changes:?}");
        }
    }

    #[test]
    fn similar_runs_or_few_runs_show_no_change_of_level() {
        let mut random = Random::new(4, "level");
        let false_alarms = (0..100).filter(|_| !level_changes(&runs(&mut random, &[(20, 1e4)]), 0.0, 1).is_empty());
        let false_alarms = false_alarms.count();
        assert!(false_alarms <= 4, "{false_alarms} of 100");
        assert!(level_changes(&runs(&mut random, &[(3, 1e4), (3, 5e3)]), 0.03, 1).is_empty());
        assert!(level_changes(&[], 0.03, 1).is_empty());
    }
}
