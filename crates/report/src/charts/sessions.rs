//! Figures that rise with the load: throughput with its line without queueing, bytes by kind, CPU for a read.

use mindful_analyze::StepAnalysis;

use super::ladder::{Figure, Ladder, common_rate, loads, middle, not_drawn};
use crate::drawing::plot::{Axis, Look, Plot, Point, Series};
use crate::drawing::scale::Unit;
use crate::figure::{number, percent};

const MIB: f64 = 1_048_576.0;

fn most_loads(ladders: &[Ladder]) -> usize {
    ladders.iter().map(|ladder| ladder.by_load.len()).max().unwrap_or(0)
}

fn series(ladder: &Ladder, name: &str, figure: Figure) -> Series {
    let of_load = |(load, steps): &(u32, Vec<&StepAnalysis>)| {
        let (y, high) = middle(steps, figure)?;
        Some(Point { high, ..Point::new(f64::from(*load), y) })
    };
    Series { name: name.to_owned(), look: Look::Curve, points: ladder.by_load.iter().filter_map(of_load).collect() }
}

fn axis(ladders: &[Ladder]) -> Axis {
    Axis::linear(loads(ladders), Unit::Number)
}

/// A chart over the loads, where there are at least two and something to draw.
fn plot(
    ladders: &[Ladder],
    name: &'static str,
    [title, y]: [&str; 2],
    unit: Unit,
    [caption, notes]: [String; 2],
    series: Vec<Series>,
) -> Option<Plot> {
    let series: Vec<Series> = series.into_iter().filter(|series| series.points.iter().any(|p| p.y > 0.0)).collect();
    (most_loads(ladders) > 1 && !series.is_empty()).then(|| Plot {
        name,
        title: title.to_owned(),
        caption,
        notes,
        x: axis(ladders),
        y: Axis::linear(y, unit),
        labels: "",
        series,
        guides: Vec::new(),
    })
}

/// Throughput by load, of a single ladder with its line without any queue.
pub(super) fn throughput(ladders: &[Ladder]) -> Option<Plot> {
    const TITLE: &str = "Throughput by load";
    let (visited, flow) = common_rate(ladders);
    let [ladder] = ladders else {
        let all = ladders.iter().map(|ladder| series(ladder, &ladder.name, visited)).collect();
        let words =
            [format!("Throughput by load, one curve per configuration: {flow}."), not_drawn(ladders, visited, flow)];
        return plot(ladders, "sessions", [TITLE, flow], Unit::Number, words, all);
    };
    let visited = series(ladder, flow, visited);
    let reads = series(ladder, "physical reads per second", |step| step.summary.physical_reads_per_s);
    let (first, last) = visited.points.first().cloned().zip(visited.points.last().cloned())?;
    let top = visited.points.iter().map(|point| point.y).fold(0.0, f64::max);
    let linear = linear(&first, &last, top);
    let words = [
        "Throughput by load, compared with linear growth from the first step.".to_owned(),
        speed_up_sentence(&first, &last),
    ];
    let all = [Some(visited), Some(reads), linear].into_iter().flatten().collect();
    plot(ladders, "sessions", [TITLE, "per second"], Unit::Number, words, all)
}

fn speed_up_sentence(first: &Point, last: &Point) -> String {
    let (loads, speed) = (last.x / first.x, last.y / first.y);
    if !(loads.is_finite() && speed.is_finite() && loads > 1.0) {
        return String::new();
    }
    format!(
        "From load {} to {}, {} times the load, throughput rises {} times: {} of linear growth.",
        first.x,
        last.x,
        number(loads),
        number(speed),
        percent(Some(speed / loads))
    )
}

/// The line through the origin and the first point, up to the edge of the field.
fn linear(first: &Point, last: &Point, top: f64) -> Option<Series> {
    let slope = Some(first.y / first.x).filter(|slope| slope.is_finite() && *slope > 0.0)?;
    let x = last.x.min(top / slope);
    let points = vec![Point::new(0.0, 0.0), Point::new(x, x * slope)];
    Some(Series { name: "linear growth".into(), look: Look::Guide, points })
}

/// MiB per second by kind, of a single ladder.
pub(super) fn mib(ladders: &[Ladder]) -> Option<Plot> {
    let [ladder] = ladders else { return None };
    let first = ladder.by_load.iter().find_map(|(_, steps)| steps.first());
    let log = first.map_or("log", |step| step.evidence.words.log.as_str());
    let kinds: [(&str, Figure); 3] = [
        ("read", |step| Some(step.summary.physical_reads_per_s? * step.block_bytes? as f64 / MIB)),
        ("written", |step| Some(step.summary.physical_writes_per_s? * step.block_bytes? as f64 / MIB)),
        (log, |step| step.summary.log_bytes_per_s.map(|bytes| bytes / MIB)),
    ];
    let all = kinds.map(|(name, figure)| series(ladder, name, figure)).into();
    let words = [
        "MiB (2^20 bytes) read, written and logged per second.".to_owned(),
        "A rate that is zero or not known has no curve.".to_owned(),
    ];
    plot(ladders, "mib", ["MiB per second by load", "MiB per second"], Unit::Number, words, all)
}

pub(super) fn cpu(ladders: &[Ladder]) -> Option<Plot> {
    let logical: Figure = |step| step.summary.cpu.db_us_per_logical_read;
    let physical: Figure =
        |step| step.summary.cpu.db_us_per_physical_read.filter(|_| step.summary.cpu.iops_per_core.is_some());
    let all = match ladders {
        [ladder] => vec![series(ladder, "a logical read", logical), series(ladder, "a physical read", physical)],
        several => several.iter().map(|ladder| series(ladder, &ladder.name, logical)).collect(),
    };
    let y = if ladders.len() == 1 { "CPU for one" } else { "CPU for a logical read" };
    let words = [
        "CPU time of the server per read.".to_owned(),
        "The time of a physical read includes the logical read that caused it.".to_owned(),
    ];
    plot(ladders, "cpu-cost", ["CPU for a read", y], Unit::Us, words, all)
}
