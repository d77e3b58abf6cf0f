//! The gate of a comparison: its condition, and whether the runs can decide it.

use mindful_core::plan::units::{Share, format_counted};
pub use mindful_core::result::comparison::GateOutcome;
use mindful_core::result::comparison::GateSummary;
use mindful_core::{Error, Result};

use super::answer::Verdict;
use super::history::FEWEST_OF_A_HISTORY;
use super::power::{can_tell, runs_to_tell};
use super::sides::ComparedPoint;

/// The condition of `--fail-if`.
#[derive(Debug)]
pub struct Gate {
    pub condition: String,
    crossed_by: Verdict,
    /// Accepted difference, a share; `None` for a gate on ranks, which has the margin of the comparison.
    pub margin: Option<f64>,
    passes_undecided: bool,
}

const NOT_FIRST: &str = "not in the first rank";

impl Gate {
    /// Parses `slower>5%` or `not in the first rank`. With `passes_undecided`, an undecided comparison passes.
    ///
    /// # Errors
    /// Any other text.
    pub fn parse(condition: &str, passes_undecided: bool) -> Result<Self> {
        let bad = || {
            let next = format!("write 'slower>5%', 'faster>5%' or '{NOT_FIRST}'");
            Error::plan(format!("invalid gate `{condition}`"), next)
        };
        if condition.trim() == NOT_FIRST {
            let (condition, crossed_by) = (NOT_FIRST.to_owned(), Verdict::Slower);
            return Ok(Self { condition, crossed_by, margin: None, passes_undecided });
        }
        let (word, margin) = condition.split_once('>').ok_or_else(bad)?;
        let crossed_by = match word.trim() {
            "slower" => Verdict::Slower,
            "faster" => Verdict::Faster,
            _ => return Err(bad()),
        };
        let margin = margin.trim().strip_suffix('%').ok_or_else(bad)?;
        let margin = Some(Share::parse(margin).map_err(|_| bad())?.percent() / 100.0);
        Ok(Self { condition: condition.to_owned(), crossed_by, margin, passes_undecided })
    }

    /// Refuses too few runs to ever cross the gate. A single run a side is judged by the noise floor.
    ///
    /// # Errors
    /// Too few runs.
    pub fn refuse_too_few(
        &self,
        baseline: usize,
        candidate: usize,
        points: usize,
        has_noise_floor: bool,
    ) -> Result<()> {
        let single = baseline.min(candidate) == 1;
        let possible = if single { has_noise_floor } else { can_tell(baseline, candidate, points) };
        if possible {
            return Ok(());
        }
        let needed = runs_to_tell(points);
        let at = if points > 1 { format!(" at {}", format_counted(points, "point")) } else { String::new() };
        let floor = if single { "; or measure the noise floor first: `mindful run --repeat 5`" } else { "" };
        Err(Error::plan(
            format!(
                "--fail-if '{}': {} against {candidate}{at} cannot show a difference",
                self.condition,
                format_counted(baseline, "run")
            ),
            format!("use {needed} runs a side (--repeat {needed}) or more{floor}"),
        ))
    }

    /// Refuses a history too short for a change of level.
    ///
    /// # Errors
    /// Too few runs.
    pub fn refuse_short_history(&self, runs: usize) -> Result<()> {
        if self.margin.is_none() {
            return Err(Error::plan(
                format!("--fail-if '{NOT_FIRST}': a history has no ranks"),
                "write 'slower>5%' or 'faster>5%'",
            ));
        }
        if runs >= FEWEST_OF_A_HISTORY {
            return Ok(());
        }
        Err(Error::plan(
            format!("--fail-if '{}': {} cannot show a change of level", self.condition, format_counted(runs, "run")),
            format!("use {FEWEST_OF_A_HISTORY} runs or more"),
        ))
    }

    pub fn judge_points(&self, points: &[ComparedPoint]) -> GateOutcome {
        self.judge(&points.iter().map(|compared| compared.comparison.verdict))
    }

    /// The outcome for the verdicts on the last side, compared with each other one or at each point.
    pub(super) fn judge(&self, verdicts: &(impl Iterator<Item = Verdict> + Clone)) -> GateOutcome {
        let any = |wanted| verdicts.clone().any(|verdict| verdict == wanted);
        match () {
            () if any(self.crossed_by) => GateOutcome::Crossed,
            // A side that is not distinguishable from the best shares the first rank.
            () if any(Verdict::NotDecided) && self.margin.is_some() => GateOutcome::Undecided,
            () => GateOutcome::Passed,
        }
    }

    pub fn judge_history(&self, last_by_first: f64, margin: f64, higher_is_faster: bool) -> GateOutcome {
        let verdict = if (last_by_first > 1.0) == higher_is_faster { Verdict::Faster } else { Verdict::Slower };
        let beyond = last_by_first.ln().abs() > margin.ln_1p();
        if beyond && self.crossed_by == verdict { GateOutcome::Crossed } else { GateOutcome::Passed }
    }

    /// Whether `outcome` fails the command.
    pub fn fails(&self, outcome: GateOutcome) -> bool {
        match outcome {
            GateOutcome::Passed => false,
            GateOutcome::Crossed => true,
            GateOutcome::Undecided => !self.passes_undecided,
        }
    }

    pub fn summary(&self, outcome: GateOutcome) -> GateSummary {
        GateSummary { fail_if: self.condition.clone(), outcome, failed: self.fails(outcome) }
    }
}
