//! A comparison as a page.

use std::collections::BTreeMap;

use mindful_analyze::compare::Basis;
use mindful_core::Result;
use mindful_record::Store;
use mindful_report::compared::{Compared, Row};
use mindful_report::figure;
use mindful_runner::repetition::Figure;
use mindful_runner::sweep::named;

use super::reported::Reported;
use super::sides::Sides;
use super::{compared, text};

/// Differences up to this do not matter where nobody says, a share.
pub const MARGIN: f64 = 0.03;

/// What `sides` say together; where they have nothing in common, the reason stands in place of figures.
pub fn compared(store: &Store, sides: &Sides, figure: Option<Figure>, margin: f64) -> Result<Compared> {
    let figure = figure.unwrap_or_else(|| compared::usual(sides));
    let question = compared::question(store, sides, figure, margin)?;
    let names = sides.names.clone();
    Ok(match compared::against(sides, figure, &question) {
        Ok(reported) => Compared { names, said: said(&reported), margin, rows: rows(&reported) },
        Err(error) => Compared { names, said: vec![format!("no differences: {error}")], margin, rows: Vec::new() },
    })
}

/// The verdict, then what it rests on.
fn said(reported: &Reported) -> Vec<String> {
    let mut said = Vec::new();
    if let ([one], [medians]) = (reported.points.as_slice(), reported.medians.as_slice()) {
        said.push(text::line(&one.comparison, *medians, reported));
        said.push(format!("basis: {}", text::basis(&one.comparison)));
    } else {
        let all = reported.points.iter().map(|point| text::word(point.comparison.verdict));
        let count = all.fold(BTreeMap::<&str, usize>::new(), |mut count, word| {
            *count.entry(word).or_default() += 1;
            count
        });
        let words: Vec<_> = count.iter().map(|(word, n)| format!("{word} at {n}")).collect();
        said.push(format!("of {} points: {}", reported.points.len(), words.join(", ")));
        said.push("the verdicts take the number of points into account (Holm)".to_owned());
    }
    let idle = text::no_difference_to_be_seen(&reported.idle_settings);
    said.extend(Some(idle.trim_end().to_owned()).filter(|line| !line.is_empty()));
    said
}

fn rows(reported: &Reported) -> Vec<Row> {
    points(reported).into_iter().chain(percentiles(reported)).chain(curves(reported)).collect()
}

fn points(reported: &Reported) -> Vec<Row> {
    let unit = reported.figure.unit();
    let several = reported.points.len() > 1;
    let row = |(point, [from, to]): (&mindful_analyze::compare::PointComparison, &[f64; 2])| Row {
        what: if several { format!("{unit} at {}", figure::number(point.load)) } else { unit.to_owned() },
        baseline: figure::number(*from),
        candidate: figure::number(*to),
        ratio: point.comparison.ratio,
        interval: point.comparison.interval,
        remark: format!("{}; {}", text::word(point.comparison.verdict), text::basis(&point.comparison)),
    };
    reported.points.iter().zip(&reported.medians).map(row).collect()
}

fn percentiles(reported: &Reported) -> Vec<Row> {
    let several = reported.points.len() > 1;
    let mut rows = Vec::new();
    for kind in &reported.latencies {
        let place = if several && !kind.at.is_empty() { format!(" at {}", named(&kind.at)) } else { String::new() };
        // Of a sweep, one percentile a point: its picture would be a wall of bars.
        let reported = kind.shifts.iter().filter(|shift| !several || (shift.percentile - 99.0).abs() < 0.05);
        rows.extend(reported.map(|shift| Row {
            what: format!("p{} of a {}{place}", shift.percentile, kind.kind),
            baseline: figure::time_us(shift.baseline_us),
            candidate: figure::time_us(shift.candidate_us),
            ratio: shift.ratio,
            interval: shift.interval,
            remark: if shift.basis == Basis::WithinRun { "within-run only".to_owned() } else { String::new() },
        }));
    }
    rows
}

/// What two sweeps say as curves.
fn curves(reported: &Reported) -> Vec<Row> {
    let of = |(values, curve): &(BTreeMap<String, String>, mindful_analyze::compare::CurveComparison)| {
        let place = if values.is_empty() { String::new() } else { format!(" at {}", named(values)) };
        let ratios = [
            (Some(curve.capacity), "highest throughput"),
            (Some(curve.zero_load), "latency of one session"),
            (curve.asymptote, "sessions until it queues"),
            (Some(curve.area), "mean throughput"),
        ];
        let row = |(ratio, what): (Option<mindful_analyze::compare::Ratio>, &str)| {
            let ratio = ratio?;
            Some(Row {
                what: format!("{what}{place}"),
                baseline: String::new(),
                candidate: String::new(),
                ratio: ratio.ratio,
                interval: ratio.interval,
                remark: "fitted curves; what differs from sweep to sweep is not in the interval".to_owned(),
            })
        };
        ratios.into_iter().filter_map(row).collect::<Vec<_>>()
    };
    reported.curves.iter().flat_map(of).collect()
}
