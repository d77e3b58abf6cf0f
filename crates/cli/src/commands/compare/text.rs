//! A comparison for a person.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mindful_analyze::compare::{Basis, Comparison, CurveComparison, Verdict};
use mindful_core::plan::price::Price;
use mindful_core::record::run::Run;
use mindful_core::result::{Summary, Validity};
use mindful_report::compared::{between, change};
use mindful_report::{escape, figure};
use mindful_runner::repetition::Side;
use mindful_runner::sweep::named;

use super::reported::{KindShifts, Reported};
use super::{price, sides};

/// The verdict first, then what it rests on.
pub fn report(reported: &Reported, baseline: &Side, candidate: &Side) -> String {
    let mut text = no_difference_to_be_seen(&reported.idle_settings);
    match (reported.points.as_slice(), reported.medians.as_slice()) {
        ([one], [medians]) => {
            text.push_str(&single(&one.comparison, &line(&one.comparison, *medians, reported)));
            text.push_str(&reported.prices.as_ref().map_or_else(String::new, |both| money(&one.comparison, both)));
        }
        (many, medians) => {
            for (point, medians) in many.iter().zip(medians) {
                // Writing to a string cannot fail.
                let _ = writeln!(text, "{:>6}  {}", point.load, line(&point.comparison, *medians, reported));
            }
            text.push_str("the verdicts take the number of points into account (Holm)\n");
        }
    }
    text.push_str(&latencies(&reported.latencies));
    for (values, curve) in &reported.curves {
        text.push_str(&whole(values, curve));
    }
    text.push('\n');
    for (role, name, side) in [("baseline", &reported.names[0], baseline), ("candidate", &reported.names[1], candidate)]
    {
        let name = if name == role { String::new() } else { format!("{}  ", escape(name)) };
        for (run, analysis) in side {
            let value = sides::value(run, analysis, reported.figure);
            let value =
                value.map_or_else(String::new, |v| format!("  {} {}", figure::number(v), reported.figure.unit()));
            let _ = writeln!(text, "{role:<9}  {name}{}", labelled(run, &analysis.summary, &value));
        }
    }
    for d in &reported.differing {
        let _ = writeln!(text, "differs in {}: {}", d.fact, escape(&d.sides()));
    }
    text + &as_a_page(reported, baseline, candidate)
}

/// The command that draws it.
fn as_a_page(reported: &Reported, baseline: &Side, candidate: &Side) -> String {
    let ids = |side: &Side| side.iter().map(|(run, _)| escape(&run.head.id)).collect::<Vec<_>>().join(" ");
    let figure = match reported.figure.name() {
        "throughput" => String::new(),
        name => format!(" --figure {name}"),
    };
    format!(
        "as a page: mindful export --baseline {} --candidate {}{figure} --as html --output compare.html\n",
        ids(baseline),
        ids(candidate)
    )
}

/// Said before the verdict, for whatever that is, what was changed did not bring it about.
pub fn no_difference_to_be_seen(idle: &[String]) -> String {
    if idle.is_empty() {
        return String::new();
    }
    let (names, them) = (escape(&idle.join(", ")), if idle.len() == 1 { "which" } else { "none of which" });
    let verb = if idle.len() == 1 { "cannot" } else { "can" };
    format!(
        "the sides differ only in {names}, {them} {verb} matter for the access path measured: what is found below is \
         chance or order. `mindful plan` tells of --access, by which it would\n"
    )
}

fn money(comparison: &Comparison, both: &[Price; 2]) -> String {
    let (ratio, interval) = price::for_the_money(comparison, both);
    let interval = interval.map_or_else(String::new, |[low, high]| format!(" ({low:.4} to {high:.4})"));
    format!("for the money: ratio {ratio:.4}{interval}, {} an hour against {}\n", both[0], both[1])
}

/// One line a percentile: which part of the distribution moved.
fn latencies(kinds: &[KindShifts]) -> String {
    let mut text = String::new();
    for KindShifts { at, kind, shifts } in kinds {
        let place = if at.is_empty() { String::new() } else { format!(" at {}", named(at)) };
        let _ = writeln!(text, "\nlatency of a {}{}, candidate by baseline", escape(kind), escape(&place));
        for s in shifts {
            let interval = s.interval.map_or_else(
                || "no interval".to_owned(),
                |i| format!("{:.0} % interval {:.3} to {:.3}", i.confidence * 100.0, i.low, i.high),
            );
            let alone = if s.basis == Basis::WithinRun { ", within-run only" } else { "" };
            let (from, to) = (figure::number(s.baseline_us), figure::number(s.candidate_us));
            let name = format!("p{}", s.percentile);
            let _ = writeln!(text, "  {name:<6}{from:>9} us to {to:>9} us: ratio {:.3}, {interval}{alone}", s.ratio);
        }
    }
    text
}

/// What two sweeps say as curves.
fn whole(values: &BTreeMap<String, String>, curve: &CurveComparison) -> String {
    let place = if values.is_empty() { String::new() } else { format!(" at {}", named(values)) };
    let mut text = format!("\nwhole curves over sessions{}, candidate by baseline\n", escape(&place));
    let rows = [
        (Some(curve.capacity), "highest throughput"),
        (Some(curve.zero_load), "latency of one session alone"),
        (curve.asymptote, "sessions beyond which queueing dominates"),
        (Some(curve.area), "mean throughput over the ladder"),
    ];
    for (ratio, words) in rows {
        let Some(ratio) = ratio else { continue };
        let interval = ratio.interval.map_or_else(String::new, |i| format!(" ({:.3} to {:.3})", i.low, i.high));
        let _ = writeln!(text, "  {:>7.3}{interval} {words}", ratio.ratio);
    }
    text.push_str(
        "  in brackets 95 % from the points round the curves; what differs from sweep to sweep is not in them\n",
    );
    text
}

/// A run's id and figure, with what makes it less than valid and the old kit whose arithmetic it follows.
fn labelled(run: &Run, summary: &Summary, value: &str) -> String {
    let like =
        run.head.plan.compatibility.kit().map_or_else(String::new, |kit| format!(" (in the arithmetic of {kit})"));
    let because = sides::of(summary).because.join(", ");
    let standing = match summary.validity {
        Validity::Valid => String::new(),
        Validity::Suspect => format!(" (SUSPECT: {because})"),
        Validity::Invalid => format!(" (INVALID: {because})"),
    };
    escape(&run.head.id) + value + &escape(&standing) + &like
}

pub fn word(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Faster => "FASTER",
        Verdict::Slower => "SLOWER",
        Verdict::NoMeaningfulDifference => "NO MEANINGFUL DIFFERENCE",
        Verdict::NotDecided => "NOT DECIDED",
    }
}

/// The verdict with both sides: `FASTER: b.toml 742 blocks/s, a.toml 587 (medians of 5): +26 %, 97 % interval +13 % to
/// +56 %`.
pub fn line(c: &Comparison, medians: [f64; 2], reported: &Reported) -> String {
    let runs = match (c.runs_baseline, c.runs_candidate) {
        (1, 1) => "a run each".to_owned(),
        (a, b) if a == b => format!("medians of {a}"),
        (a, b) => format!("medians of {b} and {a}"),
    };
    let ([baseline, candidate], [from, to]) = (&reported.names, medians.map(figure::number));
    format!(
        "{}: {} {to} {}, {} {from} ({runs}): {}, {}",
        word(c.verdict),
        escape(candidate),
        reported.figure.unit(),
        escape(baseline),
        change(c.ratio),
        between(c.interval)
    )
}

/// What the interval rests on.
pub fn basis(c: &Comparison) -> String {
    match c.basis {
        Basis::Runs => format!("{} runs against {}", c.runs_baseline, c.runs_candidate),
        Basis::NoiseFloor => "a single run a side, the interval widened by this platform's noise floor".to_owned(),
        Basis::WithinRun => {
            "within-run only: a single run a side and no noise floor; `mindful run --repeat 5` measures it".to_owned()
        }
    }
}

fn single(c: &Comparison, verdict: &str) -> String {
    let mut text = format!("{verdict}\n");
    let _ = writeln!(text, "differences up to {:.1} % do not matter here", c.margin * 100.0);
    let _ = writeln!(text, "basis: {}", basis(c));
    if let Some(b) = c.bootstrap {
        let _ = writeln!(text, "second opinion (bootstrap): {:.4} to {:.4}", b.low, b.high);
    }
    if let Some(share) = c.detectable {
        let _ = writeln!(text, "detectable difference at 80 % power: {:.1} %", share * 100.0);
    }
    match (c.verdict, c.runs_needed) {
        (Verdict::NotDecided, Some(needed)) => {
            let more = needed.saturating_sub(c.runs_baseline.min(c.runs_candidate));
            let words = if more == 1 { "1 more run".to_owned() } else { format!("about {more} more runs") };
            let _ = writeln!(text, "{words} a side would decide");
        }
        (Verdict::NotDecided, None) => text.push_str("no sensible number of runs decides: it lies at the margin\n"),
        _ => {}
    }
    text
}
