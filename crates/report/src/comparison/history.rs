//! Runs of one plan: changes of their level, and their noise.

use std::fmt::Write as _;

use mindful_analyze::compare::{Gate, GateOutcome, History, NoiseFloor, compared_run};

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

/// The claim of the SLOB Method for runs of one plan: 1 to 2 %, 3 % at worst.
const CLAIM: f64 = 0.02;
const CLAIM_AT_WORST: f64 = 0.03;

/// Variation between runs of one plan; `values` are blocks per second, one a run.
pub fn noise_text(floor: &NoiseFloor, values: &[f64]) -> String {
    let percent = |share: f64| format!("{:.2} %", share * 100.0);
    let verdict = if floor.variation <= CLAIM && floor.worst <= CLAIM_AT_WORST {
        "within the method's claim of 1 to 2 %, 3 % at worst"
    } else {
        "beyond the method's claim of 1 to 2 %, 3 % at worst: a comparison here needs more runs"
    };
    let figures: Vec<_> = values.iter().map(|value| figure::format_whole(value.round() as u64)).collect();
    format!(
        "run-to-run noise: {} (standard deviation; 95 % interval {} to {}); the farthest run is {} from the median\n\
         this platform is {verdict}\nblocks/s of each run: {}\n",
        percent(floor.variation),
        percent(floor.interval.low),
        percent(floor.interval.high),
        percent(floor.worst),
        figures.join("  ")
    )
}
