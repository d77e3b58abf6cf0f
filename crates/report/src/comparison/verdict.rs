//! Verdicts, gates and their basis, in words.

use mindful_analyze::compare::{Basis, Comparison, Gate, GateOutcome, Verdict};

use crate::escape;

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

/// The warning for sides that differ only in settings without effect; empty for others.
pub(super) fn idle_settings_warning(idle: &[String]) -> String {
    if idle.is_empty() {
        return String::new();
    }
    let (names, have) = (crate::escape(&idle.join(", ")), if idle.len() == 1 { "has" } else { "have" });
    format!(
        "the sides differ only in {names}, which {have} no effect on the access path measured: any difference below is \
         chance or order. `mindful plan` explains which --access would use it"
    )
}
