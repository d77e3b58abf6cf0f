//! A comparison for a person.

use std::fmt::Write as _;

use mindful_analyze::comparable::Difference;
use mindful_analyze::compare::{Basis, Comparison, PointComparison, Verdict};
use mindful_report::escape;

use crate::repetition::Side;

/// The verdict first, then what it rests on.
pub fn report(points: &[PointComparison], baseline: &Side, candidate: &Side, differing: &[Difference]) -> String {
    let mut text = String::new();
    match points {
        [one] => text.push_str(&single(&one.comparison)),
        many => {
            for point in many {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{:>6}  {}", point.load, line(&point.comparison));
            }
            text.push_str("the verdicts take the number of points into account (Holm)\n");
        }
    }
    let ids = |side: &Side| side.iter().map(|(run, _)| escape(&run.head.id)).collect::<Vec<_>>().join(" ");
    let _ = writeln!(text, "\nbaseline   {}\ncandidate  {}", ids(baseline), ids(candidate));
    for d in differing {
        let _ = writeln!(text, "differs in {}: {}", d.fact, escape(&d.sides()));
    }
    text
}

fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "FASTER",
        Verdict::Slower => "SLOWER",
        Verdict::NoMeaningfulDifference => "NO MEANINGFUL DIFFERENCE",
        Verdict::NotDecided => "NOT DECIDED",
    }
}

fn line(c: &Comparison) -> String {
    let interval = c.interval.map_or_else(
        || "no interval".to_owned(),
        |i| format!("{:.0} % interval {:.4} to {:.4}", i.confidence * 100.0, i.low, i.high),
    );
    format!("{}: ratio {:.4}, {interval}", word(c.verdict), c.ratio)
}

fn single(c: &Comparison) -> String {
    let mut text = format!("{}\n", line(c));
    let _ = writeln!(text, "differences up to {:.1} % do not matter here", c.margin * 100.0);
    let basis = match c.basis {
        Basis::Runs => format!("{} runs against {}", c.runs_baseline, c.runs_candidate),
        Basis::NoiseFloor => "a single run a side, the interval widened by this platform's noise floor".to_owned(),
        Basis::WithinRun => {
            "within-run only: a single run a side and no noise floor known; `mindful noise` measures it".to_owned()
        }
    };
    let _ = writeln!(text, "basis: {basis}");
    if let Some(b) = c.bootstrap {
        let _ = writeln!(text, "second opinion (bootstrap): {:.4} to {:.4}", b.low, b.high);
    }
    if let Some(share) = c.detectable {
        let _ = writeln!(text, "so many runs find a difference of {:.1} % in four of five cases", share * 100.0);
    }
    match (c.verdict, c.runs_needed) {
        (Verdict::NotDecided, Some(needed)) => {
            let more = needed.saturating_sub(c.runs_baseline.min(c.runs_candidate));
            let _ = writeln!(text, "about {more} more runs a side would decide");
        }
        (Verdict::NotDecided, None) => text.push_str("no sensible number of runs decides: it lies at the margin\n"),
        _ => {}
    }
    text
}
