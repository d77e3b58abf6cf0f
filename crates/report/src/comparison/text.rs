//! A comparison as text: the verdict first, then its basis.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mindful_analyze::Analysis;
use mindful_analyze::compare::provenance::joined_provenance;
use mindful_analyze::compare::{
    Basis, ComparedPoint, ComparedSides, Comparison, Side, Sides, Verdict, compared_run, price_ratio, value_of_run,
};
use mindful_core::plan::Price;
use mindful_core::plan::units::with_article;
use mindful_core::record::run::{Run, values_in_words};
use mindful_core::result::Validity;
use mindful_core::result::comparison::{CurveComparison, CurveRatio, CurveRatios, KindShifts};

use super::verdict::{basis_words, idle_settings_warning, verdict_word};
use super::verdict::{change, interval_words};
use crate::card::limit_of_best;
use crate::panels::place;
use crate::style::Style;
use crate::{escape, figure};

pub fn comparison_text(compared: &ComparedSides, sides: &Sides, style: &Style) -> String {
    let mut text = idle_settings_warning(&compared.idle_settings);
    if !text.is_empty() {
        text.push('\n');
    }
    push_verdicts(&mut text, compared);
    for kind in &compared.latency {
        push_percentiles(&mut text, kind);
    }
    for curve in &compared.curves {
        push_curve(&mut text, curve);
    }
    text.push('\n');
    for (role, name, side) in
        [("baseline", &compared.names[0], &sides.baseline), ("candidate", &compared.names[1], &sides.candidate)]
    {
        let name = if name == role { String::new() } else { format!("{}  ", escape(name)) };
        for (run, analysis) in side {
            let value = value_of_run(analysis, compared.figure);
            let value =
                value.map_or_else(String::new, |v| format!("  {} {}", figure::number(v), compared.figure.unit()));
            // Writing to a string cannot fail.
            let _ = writeln!(text, "{role:<9}  {name}{}", run_with_value(run, analysis, &value));
        }
    }
    if let Some(order) = &compared.order {
        let _ = writeln!(text, "order: {order}");
    }
    for d in &compared.differences {
        let _ = writeln!(text, "differs in {}: {}", d.fact, escape(&d.sides()));
    }
    let places = [&sides.baseline, &sides.candidate].map(|side| joined_provenance(side.iter().map(|(run, _)| run)));
    let named: Vec<_> = compared.names.iter().cloned().zip(places.iter().map(Vec::as_slice)).collect();
    text + &place::of_sides(&named).to_text(style) + "\n" + &page_command(compared, sides)
}

fn push_verdicts(text: &mut String, compared: &ComparedSides) {
    if let [point] = compared.points.as_slice() {
        text.push_str(&verdict_line(point, compared));
        text.push('\n');
        push_basis(text, &point.comparison, point.doubt.as_deref());
        if let Some(prices) = &compared.prices {
            push_price(text, &point.comparison, prices);
        }
        return;
    }
    for point in &compared.points {
        let _ = writeln!(text, "{:>6}  {}", point.load, verdict_line(point, compared));
        if let Some(doubt) = &point.doubt {
            let _ = writeln!(text, "        not decided: {}", escape(doubt));
        }
    }
    text.push_str("verdicts are adjusted for the number of points (Holm)\n");
}

/// The verdict with both sides: `FASTER: b.toml 742 blocks/s, a.toml 587 (medians of 5): +26 %, 97 % interval +13 % to
/// +56 %`.
pub(super) fn verdict_line(point: &ComparedPoint, compared: &ComparedSides) -> String {
    let c = &point.comparison;
    let runs = match (c.runs_baseline, c.runs_candidate) {
        (1, 1) => "one run each".to_owned(),
        (a, b) if a == b => format!("medians of {a}"),
        (a, b) => format!("medians of {b} and {a}"),
    };
    let ([baseline, candidate], [from, to]) = (&compared.names, point.medians.map(figure::number));
    format!(
        "{}: {} {to} {}, {} {from} ({runs}): {}, {}",
        verdict_word(c.verdict),
        escape(candidate),
        compared.figure.unit(),
        escape(baseline),
        change(c.ratio),
        interval_words(c.interval)
    )
}

fn push_basis(text: &mut String, c: &Comparison, doubt: Option<&str>) {
    let _ = writeln!(text, "differences up to {:.1} % do not matter here", c.margin * 100.0);
    let _ = writeln!(text, "basis: {}", basis_words(c));
    if let Some(b) = c.bootstrap {
        let _ = writeln!(text, "second opinion (bootstrap): ratio {:.4} to {:.4}", b.low, b.high);
    }
    if let Some(share) = c.detectable {
        let _ = writeln!(text, "smallest difference found with 80 % power: {:.1} %", share * 100.0);
    }
    if let Some(doubt) = doubt {
        let _ = writeln!(text, "not decided: {}", escape(doubt));
        return;
    }
    match (c.verdict, c.runs_needed) {
        (Verdict::NotDecided, Some(needed)) => {
            let more = needed.saturating_sub(c.runs_baseline.min(c.runs_candidate));
            let words = if more == 1 { "1 more run".to_owned() } else { format!("about {more} more runs") };
            let _ = writeln!(text, "{words} a side would decide");
        }
        (Verdict::NotDecided, None) => {
            text.push_str("no practical number of runs would decide: the difference is too close to the margin\n");
        }
        _ => {}
    }
}

fn push_price(text: &mut String, comparison: &Comparison, prices: &[Price; 2]) {
    let money = price_ratio(comparison, prices);
    let interval = money.interval.map_or_else(String::new, |[low, high]| format!(" ({low:.4} to {high:.4})"));
    let _ = writeln!(
        text,
        "for the money: ratio {:.4}{interval}, {} an hour against {}",
        money.ratio, prices[0], prices[1]
    );
}

/// One line a percentile: which part of the distribution moved.
fn push_percentiles(text: &mut String, KindShifts { at, kind, shifts }: &KindShifts) {
    let point = at_point(at);
    let _ = writeln!(text, "\nlatency of {}{}, baseline to candidate", with_article(&escape(kind)), escape(&point));
    for s in shifts {
        let interval = s.interval.map_or_else(
            || "no interval".to_owned(),
            |i| format!("{:.0} % interval {:.3} to {:.3}", i.confidence * 100.0, i.low, i.high),
        );
        let single = if s.basis == Basis::WithinRun { ", within the run only" } else { "" };
        let (from, to) = (figure::number(s.baseline_us), figure::number(s.candidate_us));
        let name = format!("p{}", s.percentile);
        let _ = writeln!(text, "  {name:<6}{from:>9} us to {to:>9} us: ratio {:.3}, {interval}{single}", s.ratio);
    }
}

fn push_curve(text: &mut String, CurveRatios { at, ratios }: &CurveRatios) {
    let _ = writeln!(text, "\ncurves over sessions{}: ratio of candidate to baseline", escape(&at_point(at)));
    for (ratio, words) in named_ratios(ratios) {
        let interval = ratio.interval.map_or_else(String::new, |i| format!(" ({:.3} to {:.3})", i.low, i.high));
        let _ = writeln!(text, "  {:>7.3}{interval} {words}", ratio.ratio);
    }
    text.push_str("  95 % intervals from the scatter around the curves, without the variation between sweeps\n");
}

/// The figures of curves that are compared, with their names.
pub(super) fn named_ratios(ratios: &CurveComparison) -> impl Iterator<Item = (CurveRatio, &'static str)> {
    let rows = [
        (Some(ratios.capacity), "highest throughput"),
        (Some(ratios.zero_load), "latency of a single session"),
        (ratios.asymptote, "sessions at the knee"),
        (Some(ratios.area), "mean throughput over all loads"),
    ];
    rows.into_iter().filter_map(|(ratio, name)| Some((ratio?, name)))
}

/// ` at scale 4`; empty for the only point.
pub(super) fn at_point(at: &BTreeMap<String, String>) -> String {
    if at.is_empty() { String::new() } else { format!(" at {}", values_in_words(at)) }
}

/// A run's id and figure, with the reasons if it is not valid, and the kit that it is compatible with.
fn run_with_value(run: &Run, analysis: &Analysis, value: &str) -> String {
    let compatibility =
        run.head.plan.compatibility.kit().map_or_else(String::new, |kit| format!(" (in the arithmetic of {kit})"));
    let because = compared_run(&analysis.summary).because.join(", ");
    let validity = match analysis.summary.validity {
        Validity::Valid => String::new(),
        doubted => format!(" ({doubted}: {because})"),
    };
    let limit = limit_of_best(analysis).map_or_else(String::new, |limit| format!("  {limit}"));
    escape(&run.head.id) + value + &escape(&validity) + &compatibility + &limit
}

fn page_command(compared: &ComparedSides, sides: &Sides) -> String {
    let ids = |side: &Side| side.iter().map(|(run, _)| escape(&run.head.id)).collect::<Vec<_>>().join(",");
    let figure = match compared.figure.name() {
        "throughput" => String::new(),
        name => format!(" --figure {name}"),
    };
    format!(
        "as a page: mindful export {} {}{figure} --as html --output compare.html\n",
        ids(&sides.baseline),
        ids(&sides.candidate)
    )
}
