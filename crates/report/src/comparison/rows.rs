//! The rows that a page and a picture show of a comparison.

use std::collections::BTreeMap;

use mindful_analyze::compare::{Basis, ComparedPoint, ComparedSides};
use mindful_core::Result;
use mindful_core::plan::units::with_article;
use mindful_core::result::comparison::{CurveRatio, CurveRatios, KindShifts};

use super::text::{at_point, named_ratios, verdict_line};
use super::verdict::{Difference, Differences};
use super::verdict::{basis_words, idle_settings_warning, verdict_word};
use crate::figure;

/// The rows of a page or a picture for the sides called `names`; sides that cannot be compared have the reason instead
/// of figures.
pub fn differences(names: &[String; 2], margin: f64, compared: Result<ComparedSides>) -> Differences {
    let (sentences, rows) = match compared {
        Ok(compared) => (sentences(&compared), rows(&compared)),
        Err(error) => (vec![format!("not compared: {error}")], Vec::new()),
    };
    Differences { names: names.clone(), sentences, margin, rows }
}

fn sentences(compared: &ComparedSides) -> Vec<String> {
    let mut sentences = Vec::new();
    if let [point] = compared.points.as_slice() {
        sentences.push(verdict_line(point, compared));
        sentences.push(format!("basis: {}", basis_words(&point.comparison)));
    } else {
        let mut count: BTreeMap<&str, usize> = BTreeMap::new();
        for point in &compared.points {
            *count.entry(verdict_word(point.comparison.verdict)).or_default() += 1;
        }
        let words: Vec<_> = count.iter().map(|(word, n)| format!("{word} at {n}")).collect();
        sentences.push(format!("{} points: {}", compared.points.len(), words.join(", ")));
        sentences.push("verdicts are adjusted for the number of points (Holm)".to_owned());
    }
    sentences.extend(Some(idle_settings_warning(&compared.idle_settings)).filter(|warning| !warning.is_empty()));
    sentences
}

fn rows(compared: &ComparedSides) -> Vec<Difference> {
    let several = compared.points.len() > 1;
    let points = compared.points.iter().map(|point| point_row(compared.figure.unit(), point, several));
    let percentiles = compared.latency.iter().flat_map(|kind| percentile_rows(kind, several));
    points.chain(percentiles).chain(compared.curves.iter().flat_map(curve_rows)).collect()
}

fn point_row(unit: &str, point: &ComparedPoint, several: bool) -> Difference {
    let [baseline, candidate] = point.medians.map(figure::number);
    Difference {
        name: if several { format!("{unit} at {}", figure::number(point.load)) } else { unit.to_owned() },
        baseline,
        candidate,
        ratio: point.comparison.ratio,
        interval: point.comparison.interval,
        remark: format!("{}; {}", verdict_word(point.comparison.verdict), basis_words(&point.comparison)),
    }
}

fn percentile_rows(KindShifts { at, kind, shifts }: &KindShifts, several: bool) -> Vec<Difference> {
    let point = if several { at_point(at) } else { String::new() };
    // Of a sweep, one percentile a point: more would fill the picture with bars.
    let shown = shifts.iter().filter(|shift| !several || (shift.percentile - 99.0).abs() < 0.05);
    let row = |shift: &mindful_analyze::compare::PercentileShift| Difference {
        name: format!("p{} of {}{point}", shift.percentile, with_article(kind)),
        baseline: figure::time_us(shift.baseline_us),
        candidate: figure::time_us(shift.candidate_us),
        ratio: shift.ratio,
        interval: shift.interval,
        remark: if shift.basis == Basis::WithinRun { "within the run only".to_owned() } else { String::new() },
    };
    shown.map(row).collect()
}

fn curve_rows(CurveRatios { at, ratios }: &CurveRatios) -> Vec<Difference> {
    let row = |(ratio, name): (CurveRatio, &str)| Difference {
        name: format!("{name}{}", at_point(at)),
        baseline: String::new(),
        candidate: String::new(),
        ratio: ratio.ratio,
        interval: ratio.interval,
        remark: "fitted curves, without the variation between sweeps".to_owned(),
    };
    named_ratios(ratios).map(row).collect()
}
