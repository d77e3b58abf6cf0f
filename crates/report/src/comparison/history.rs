//! A history of runs: the changes of its level.

use std::fmt::Write as _;

use mindful_analyze::compare::{Gate, GateOutcome, History, compared_run};

use super::junit::{Case, gate_ending, notice_property, suite};
use crate::{escape, figure};

pub fn history_text(history: &History) -> String {
    let mut text = String::new();
    let count = history.runs.len();
    for change in &history.changes {
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}", change_line(history, change));
    }
    if history.changes.is_empty() {
        let _ = writeln!(text, "{}", no_change_line(history));
    }
    if count < 10 {
        text.push_str("fewer than ten runs can hardly show one\n");
    }
    let runs = history.runs.iter().map(|(_, analysis)| compared_run(&analysis.summary));
    for run in runs.filter(|run| !run.because.is_empty()) {
        let _ = writeln!(text, "{} is {:?}: {}", escape(&run.id), run.validity, escape(&run.because.join(", ")));
    }
    text
}

fn change_line(history: &History, change: &mindful_analyze::compare::LevelChange) -> String {
    format!(
        "from run {} ({} of {}) on: {} instead of {}, ratio {:.4} (p {:.3})",
        escape(&history.runs[change.at].0.head.id),
        change.at + 1,
        history.runs.len(),
        figure::number(change.after),
        figure::number(change.before),
        change.after / change.before,
        change.p
    )
}

fn no_change_line(history: &History) -> String {
    format!("no change of level in {} runs", history.runs.len())
}

/// The outcome of `gate` for `history` as JUnit XML with one case.
pub fn history_suite(history: &History, gate: &Gate, outcome: GateOutcome) -> String {
    let why = history.changes.first().map_or_else(|| no_change_line(history), |change| change_line(history, change));
    let case = Case { name: "last level by first".to_owned(), ending: gate_ending(gate, outcome, &why) };
    let mut properties = vec![("gate", gate.condition.clone())];
    properties.extend(notice_property(history.runs.iter()));
    suite("history", &properties, &[case], &history_text(history))
}
