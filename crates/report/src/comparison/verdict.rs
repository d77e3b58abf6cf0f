//! Differences of two sides, and verdicts, gates and their basis in words.

use mindful_analyze::compare::{Basis, Comparison, Gate, GateOutcome, Interval, Verdict};

use crate::{escape, figure};

#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    pub name: String,
    /// Of the baseline, with its unit; empty where only the ratio is known.
    pub baseline: String,
    pub candidate: String,
    /// Candidate by baseline.
    pub ratio: f64,
    pub interval: Option<Interval>,
    pub remark: String,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Differences {
    /// Names of baseline and candidate.
    pub names: [String; 2],
    /// The result in sentences, the verdict first.
    pub sentences: Vec<String>,
    /// Differences up to this share do not matter.
    pub margin: f64,
    pub rows: Vec<Difference>,
}

/// A ratio as a change: `+30 %`, `-4.2 %`, `+0.31 %`.
pub(crate) fn change(ratio: f64) -> String {
    let percent = (ratio - 1.0) * 100.0;
    if !percent.is_finite() {
        return figure::UNKNOWN.to_owned();
    }
    let decimals = match percent.abs() {
        size if size >= 9.95 => 0,
        size if size >= 0.995 => 1,
        _ => 2,
    };
    format!("{percent:+.decimals$} %")
}

/// The interval of a ratio: `95 % interval +13 % to +56 %`.
pub(crate) fn interval_words(interval: Option<Interval>) -> String {
    let in_words =
        |i: Interval| format!("{:.0} % interval {} to {}", i.confidence * 100.0, change(i.low), change(i.high));
    interval.map_or_else(|| "no interval".to_owned(), in_words)
}

/// The outcome of a gate; `side` is the one that it judges among several.
pub fn gate_line(gate: &Gate, outcome: GateOutcome, side: Option<&str>) -> String {
    let words = match outcome {
        GateOutcome::Passed => "passed",
        GateOutcome::Crossed => "crossed",
        GateOutcome::Undecided if gate.fails(outcome) => "undecided, failed (--undecided fail)",
        GateOutcome::Undecided => "undecided, passed (--undecided pass)",
    };
    let side = side.map_or_else(String::new, |side| format!(" for {}", escape(side)));
    format!("gate '{}'{side}: {words}", gate.condition)
}

pub(super) fn verdict_word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "FASTER",
        Verdict::Slower => "SLOWER",
        Verdict::NoMeaningfulDifference => "NO MEANINGFUL DIFFERENCE",
        Verdict::NotDecided => "NOT DECIDED",
    }
}

pub(super) fn basis_words(c: &Comparison) -> String {
    match c.basis {
        Basis::Runs => format!("{} runs against {}", c.runs_baseline, c.runs_candidate),
        Basis::Machines => format!(
            "{} runs against {} on several machines; the interval is that of the type of machine",
            c.runs_baseline, c.runs_candidate
        ),
        Basis::NoiseFloor => "one run a side; the interval includes this platform's noise floor".to_owned(),
        Basis::WithinRun => {
            "one run a side and no noise floor: the interval covers variation within the run only; `mindful run --repeat 5` \
             measures the floor"
                .to_owned()
        }
    }
}

/// The warning for sides that differ only in settings without effect; `None` for others.
pub(super) fn idle_settings_warning(idle: &[String]) -> Option<String> {
    let (names, have) = (crate::escape(&idle.join(", ")), if idle.len() == 1 { "has" } else { "have" });
    (!idle.is_empty()).then(|| {
        format!(
            "the sides differ only in {names}, which {have} no effect on the access path measured: any difference below \
             is chance or order. `mindful plan` explains which --access would use it"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ratio_is_shown_as_a_change_with_three_digits() {
        assert_eq!([1.304, 0.958, 1.0031, 0.5, 1.0].map(change), ["+30 %", "-4.2 %", "+0.31 %", "-50 %", "+0.00 %"]);
        assert_eq!(change(f64::INFINITY), "-");
        assert_eq!(interval_words(None), "no interval");
    }
}
