//! The gate of a comparison: which verdict crosses it, and whether there are enough runs to decide.

use mindful_analyze::compare::{FEWEST_OF_A_HISTORY, PointComparison, Verdict, can_tell, runs_to_tell};
use mindful_core::plan::units::Share;
use mindful_core::{Error, Result};
use serde_json::{Value, json};

use crate::exit::{self, Exit};

/// A gate: the verdict that crosses it, the margin, and the outcome if the runs do not decide.
pub struct Gate {
    text: String,
    pub crossed_by: Verdict,
    /// As a share.
    pub margin: f64,
    passes_undecided: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    Crossed,
    /// The runs do not decide.
    Undecided,
}

impl Gate {
    /// From `slower>5%` and `fail` or `pass`.
    pub fn parse(text: &str, undecided: Option<&str>) -> Result<Self> {
        let bad = || Error::plan(format!("invalid gate `{text}`"), "write 'slower>5%' or 'faster>5%'");
        let (word, margin) = text.split_once('>').ok_or_else(bad)?;
        let crossed_by = match word.trim() {
            "slower" => Verdict::Slower,
            "faster" => Verdict::Faster,
            _ => return Err(bad()),
        };
        let margin = Share::parse(margin).map_err(|_| bad())?.percent() / 100.0;
        Ok(Self { text: text.to_owned(), crossed_by, margin, passes_undecided: undecided == Some("pass") })
    }

    /// Refuses too few runs to ever cross the gate. A single run a side is judged by the noise floor.
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
        let at = if points > 1 { format!(" at {points} points") } else { String::new() };
        let floor = if single { "; or measure the noise floor first: `mindful run --repeat 5`" } else { "" };
        Err(Error::plan(
            format!("--fail-if '{}': {baseline} runs against {candidate}{at} cannot show a difference", self.text),
            format!("use {needed} runs a side (--repeat {needed}) or more{floor}"),
        ))
    }

    /// The same for a series.
    pub fn refuse_short_history(&self, runs: usize) -> Result<()> {
        if runs >= FEWEST_OF_A_HISTORY {
            return Ok(());
        }
        Err(Error::plan(
            format!("--fail-if '{}': {runs} runs cannot show a change of level", self.text),
            format!("use {FEWEST_OF_A_HISTORY} runs or more"),
        ))
    }

    pub fn text(&self) -> &str {
        &self.text
    }

    pub fn of(&self, points: &[PointComparison]) -> Outcome {
        let any = |verdict| points.iter().any(|point| point.comparison.verdict == verdict);
        match () {
            () if any(self.crossed_by) => Outcome::Crossed,
            () if any(Verdict::NotDecided) => Outcome::Undecided,
            () => Outcome::Passed,
        }
    }

    pub fn exit(&self, outcome: Outcome) -> Exit {
        match outcome {
            Outcome::Crossed => Exit::GateCrossed,
            Outcome::Undecided if !self.passes_undecided => Exit::GateCrossed,
            _ => Exit::Ok,
        }
    }

    /// The last line of the report.
    pub fn line(&self, outcome: Outcome) -> String {
        let words = match outcome {
            Outcome::Passed => "passed",
            Outcome::Crossed => "crossed",
            Outcome::Undecided if self.passes_undecided => "undecided, passed (--undecided pass)",
            Outcome::Undecided => "undecided, failed (--undecided fail)",
        };
        format!("gate '{}': {words}", self.text)
    }

    pub fn json(&self, outcome: Outcome) -> Value {
        let name = match outcome {
            Outcome::Passed => "passed",
            Outcome::Crossed => "crossed",
            Outcome::Undecided => "undecided",
        };
        json!({ "fail_if": self.text, "outcome": name, "failed": self.exit(outcome) != Exit::Ok })
    }

    /// Prints the last line, on stderr with JSON, and returns the exit code.
    pub fn conclude(&self, outcome: Outcome, as_json: bool) -> Result<Exit> {
        if as_json {
            exit::tell(&self.line(outcome));
        } else {
            crate::context::print(&format!("{}\n", self.line(outcome)))?;
        }
        Ok(self.exit(outcome))
    }
}
