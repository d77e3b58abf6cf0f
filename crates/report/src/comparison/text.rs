//! A comparison of two sides in sentences and rows: as text, and for a page or a picture.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use mindful_analyze::Analysis;
use mindful_analyze::compare::provenance::joined_provenance;
use mindful_analyze::compare::{
    Basis, ComparedPoint, ComparedSides, Comparison, Side, Sides, Verdict, compared_run, price_ratio, value_of_run,
};
use mindful_core::Result;
use mindful_core::plan::Price;
use mindful_core::plan::units::with_article;
use mindful_core::record::run::{Run, values_in_words};
use mindful_core::result::Validity;
use mindful_core::result::comparison::{CurveRatios, KindShifts, PercentileShift};

use super::verdict::{Difference, Differences};
use super::verdict::{basis_words, change, idle_settings_warning, interval_words, verdict_word};
use crate::card::limit_of_best;
use crate::panels::place;
use crate::style::Style;
use crate::{escape, figure};

const ADJUSTED: &str = "verdicts are adjusted for the number of points (Holm)";

/// The sentences and rows of a page or a picture for the sides called `names`; sides that cannot be compared have the
/// reason instead of figures.
pub fn differences(names: &[String; 2], margin: f64, compared: Result<ComparedSides>) -> Differences {
    let (sentences, rows) = match compared {
        // More percentiles of each point would fill a picture.
        Ok(compared) => (page_sentences(&compared), rows(&compared, |percentile| (percentile - 99.0).abs() < 0.05)),
        Err(error) => (vec![format!("not compared: {error}")], Vec::new()),
    };
    Differences { names: names.clone(), sentences, margin, rows }
}

pub fn comparison_text(compared: &ComparedSides, sides: &Sides, style: &Style) -> String {
    let mut text: String = sentences(compared).iter().flat_map(|line| [line, "\n"]).collect();
    let rows = rows(compared, |_| true);
    if rows.len() > compared.points.len() {
        text.push_str("\nbaseline to candidate:\n");
    }
    for Difference { name, baseline, candidate, ratio, interval, remark } in rows.iter().skip(compared.points.len()) {
        let values = if baseline.is_empty() { String::new() } else { format!("{baseline} to {candidate}, ") };
        let remark = if remark.is_empty() { String::new() } else { format!("; {remark}") };
        let interval = interval_words(*interval);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {}: {values}{}, {interval}{remark}", escape(name), change(*ratio));
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
    let places: Vec<_> = compared.names.iter().cloned().zip(places).collect();
    text + &place::of_sides(&places).to_text(style) + "\n" + &page_command(compared, sides)
}

/// The warning, then the verdicts and their basis, with a line for each point.
fn sentences(compared: &ComparedSides) -> Vec<String> {
    let mut sentences: Vec<String> = idle_settings_warning(&compared.idle_settings).into_iter().collect();
    if let [point] = compared.points.as_slice() {
        sentences.extend(of_one_point(point, compared));
        return sentences;
    }
    sentences.push(count_of_verdicts(&compared.points));
    for point in &compared.points {
        sentences.push(format!("{:>6}  {}", point.load, verdict_line(point, compared)));
        sentences.extend(point.doubt.as_ref().map(|doubt| format!("        not decided: {}", escape(doubt))));
    }
    sentences.push(ADJUSTED.to_owned());
    sentences
}

/// The same for a page, the verdict first: its rows have the single points.
fn page_sentences(compared: &ComparedSides) -> Vec<String> {
    let mut sentences = match compared.points.as_slice() {
        [point] => of_one_point(point, compared),
        points => vec![count_of_verdicts(points), ADJUSTED.to_owned()],
    };
    sentences.extend(idle_settings_warning(&compared.idle_settings));
    sentences
}

fn of_one_point(point: &ComparedPoint, compared: &ComparedSides) -> Vec<String> {
    let mut sentences = vec![verdict_line(point, compared)];
    sentences.extend(basis(&point.comparison, point.doubt.as_deref()));
    sentences.extend(compared.prices.as_ref().map(|prices| for_the_money(&point.comparison, prices)));
    sentences
}

/// `3 points: FASTER at 2, NOT DECIDED at 1`.
fn count_of_verdicts(points: &[ComparedPoint]) -> String {
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for point in points {
        *count.entry(verdict_word(point.comparison.verdict)).or_default() += 1;
    }
    let words: Vec<_> = count.iter().map(|(word, n)| format!("{word} at {n}")).collect();
    format!("{} points: {}", points.len(), words.join(", "))
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

fn basis(c: &Comparison, doubt: Option<&str>) -> Vec<String> {
    let open = match (doubt, c.verdict, c.runs_needed) {
        (Some(doubt), ..) => Some(format!("not decided: {}", escape(doubt))),
        (None, Verdict::NotDecided, Some(needed)) => {
            let more = needed.saturating_sub(c.runs_baseline.min(c.runs_candidate));
            let words = if more == 1 { "1 more run".to_owned() } else { format!("about {more} more runs") };
            Some(format!("{words} a side would decide"))
        }
        (None, Verdict::NotDecided, None) => {
            Some("no practical number of runs would decide: the difference is too close to the margin".to_owned())
        }
        _ => None,
    };
    let lines = [
        Some(format!("differences up to {:.1} % do not matter here", c.margin * 100.0)),
        Some(format!("basis: {}", basis_words(c))),
        c.bootstrap.map(|b| format!("second opinion (bootstrap): ratio {:.4} to {:.4}", b.low, b.high)),
        c.detectable.map(|share| format!("smallest difference found with 80 % power: {:.1} %", share * 100.0)),
        open,
    ];
    lines.into_iter().flatten().collect()
}

fn for_the_money(comparison: &Comparison, prices: &[Price; 2]) -> String {
    let money = price_ratio(comparison, prices);
    let interval = money.interval.map_or_else(String::new, |[low, high]| format!(" ({low:.4} to {high:.4})"));
    let ratio = money.ratio;
    format!("for the money: ratio {ratio:.4}{interval}, {} an hour against {}", prices[0], prices[1])
}

/// A row for each point, then for each percentile, then for each figure of fitted curves. Of several points, only the
/// percentiles that are `shown` have rows.
fn rows(compared: &ComparedSides, shown: impl Fn(f64) -> bool) -> Vec<Difference> {
    let several = compared.points.len() > 1;
    let points = compared.points.iter().map(|point| point_row(compared.figure.unit(), point, several));
    let shifts = compared.latency.iter().flat_map(|kind| kind.shifts.iter().map(move |shift| (kind, shift)));
    let shifts = shifts.filter(|(_, shift)| !several || shown(shift.percentile));
    let shifts = shifts.map(|(kind, shift)| percentile_row(kind, shift, several));
    points.chain(shifts).chain(compared.curves.iter().flat_map(curve_rows)).collect()
}

fn point_row(unit: &str, point: &ComparedPoint, several: bool) -> Difference {
    let [baseline, candidate] = point.medians.map(figure::number);
    let doubt = point.doubt.as_ref().filter(|_| several).map_or_else(String::new, |doubt| format!(": {doubt}"));
    Difference {
        name: if several { format!("{unit} at {}", figure::number(point.load)) } else { unit.to_owned() },
        baseline,
        candidate,
        ratio: point.comparison.ratio,
        interval: point.comparison.interval,
        remark: format!("{}{doubt}; {}", verdict_word(point.comparison.verdict), basis_words(&point.comparison)),
    }
}

fn percentile_row(KindShifts { at, kind, .. }: &KindShifts, shift: &PercentileShift, several: bool) -> Difference {
    let point = if several { at_point(at) } else { String::new() };
    Difference {
        name: format!("p{} of {}{point}", shift.percentile, with_article(kind)),
        baseline: figure::time_us(shift.baseline_us),
        candidate: figure::time_us(shift.candidate_us),
        ratio: shift.ratio,
        interval: shift.interval,
        remark: if shift.basis == Basis::WithinRun { "within the run only".to_owned() } else { String::new() },
    }
}

fn curve_rows(CurveRatios { at, ratios }: &CurveRatios) -> impl Iterator<Item = Difference> {
    let figures = [
        (Some(ratios.capacity), "highest throughput"),
        (Some(ratios.zero_load), "latency of a single session"),
        (ratios.asymptote, "sessions at the knee"),
        (Some(ratios.area), "mean throughput over all loads"),
    ];
    figures.into_iter().filter_map(|(ratio, name)| {
        let ratio = ratio?;
        Some(Difference {
            name: format!("{name}{}", at_point(at)),
            baseline: String::new(),
            candidate: String::new(),
            ratio: ratio.ratio,
            interval: ratio.interval,
            remark: "fitted curves, without the variation between sweeps".to_owned(),
        })
    })
}

/// ` at scale 4`; empty for the only point.
fn at_point(at: &BTreeMap<String, String>) -> String {
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
