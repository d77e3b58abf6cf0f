//! `mindful compare --history`: where a series of runs of one plan changed its level.

use std::fmt::Write as _;

use mindful_analyze::compare::comparable;
use mindful_analyze::compare::{LevelChange, level_changes};
use mindful_core::{Error, Result};
use mindful_report::{escape, figure};
use mindful_runner::repetition::{Figure, Side};
use serde_json::json;

use super::sides::standing;

/// Seed of the permutations.
const SEED: u64 = 1;

/// A series of runs, in the order they began, and its changes.
pub struct History {
    ids: Vec<String>,
    values: Vec<f64>,
    changes: Vec<LevelChange>,
    runs: Side,
}

impl History {
    /// Its runs.
    pub fn runs(&self) -> &Side {
        &self.runs
    }

    /// The history of `runs`; differences up to `margin` (a share) do not count.
    ///
    /// # Errors
    /// A run of several steps, a run without the figure, or runs that are not comparable, unless `force`.
    pub fn of(mut runs: Side, figure: Figure, margin: f64, force: bool) -> Result<Self> {
        runs.sort_by(|a, b| a.0.head.started_at.cmp(&b.0.head.started_at));
        runs.dedup_by(|a, b| a.0.head.id == b.0.head.id);
        let all: Vec<_> = runs.iter().map(|(run, _)| run.clone()).collect();
        for later in all.iter().skip(1) {
            let differing = comparable::differences(&all[..1], std::slice::from_ref(later));
            if let Some(d) = differing.first().filter(|_| !force) {
                return Err(Error::plan(
                    format!("run {} differs from {} in {} ({})", later.head.id, all[0].head.id, d.fact, d.sides()),
                    "choose similar runs, or pass --force if the difference is the question",
                ));
            }
        }
        let value = |(run, analysis): &(_, mindful_analyze::Analysis)| -> Result<f64> {
            let run: &mindful_core::record::run::Run = run;
            let value = match analysis.steps.as_slice() {
                [step] => figure.of(step).filter(|value| *value > 0.0),
                _ => None,
            };
            value.ok_or_else(|| {
                Error::plan(
                    format!("run {} does not have exactly one step with that figure", run.head.id),
                    "choose runs of one plan and one step",
                )
            })
        };
        let values = runs.iter().map(value).collect::<Result<Vec<f64>>>()?;
        let changes = level_changes(&values, margin, SEED);
        Ok(Self { ids: all.into_iter().map(|run| run.head.id).collect(), values, changes, runs })
    }

    /// The level of the last stretch by the first one's. The first is the baseline: no later improvement, which may be
    /// a false one, moves it.
    pub fn last_by_first(&self) -> f64 {
        match (self.changes.first(), self.changes.last()) {
            (Some(first), Some(last)) => last.after / first.before,
            _ => 1.0,
        }
    }

    /// For a person.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for change in &self.changes {
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "from run {} ({} of {}) on: {} instead of {}, ratio {:.4} (p {:.3})",
                escape(&self.ids[change.at]),
                change.at + 1,
                self.ids.len(),
                figure::number(change.after),
                figure::number(change.before),
                change.after / change.before,
                change.p
            );
        }
        if self.changes.is_empty() {
            let _ = writeln!(text, "no change of level in {} runs", self.ids.len());
        }
        if self.ids.len() < 10 {
            text.push_str("fewer than ten runs can hardly show one\n");
        }
        for run in standing(&self.runs, None).iter().filter(|run| !run.because.is_empty()) {
            let _ = writeln!(text, "{} is {:?}: {}", escape(&run.id), run.validity, escape(&run.because.join(", ")));
        }
        text
    }

    /// For programs.
    pub fn json(&self) -> String {
        let reported = json!({
            "format": 1, "runs": standing(&self.runs, None), "values": self.values, "changes": self.changes,
            "last_by_first": self.last_by_first(),
        });
        format!("{reported:#}\n")
    }
}
