//! Figures that rise with the load: throughput with its line without queueing, bytes by kind, CPU for a read.

use mindful_analyze::StepAnalysis;

use super::ladder::{Figure, Ladder, common_rate, loads, middle, not_drawn};
use crate::drawing::frame::Heading;
use crate::drawing::plot::{Axis, Look, Plot, Point, Series};
use crate::drawing::scale::Unit;
use crate::figure::{number, percent};

const MIB: f64 = 1_048_576.0;

fn series(ladder: &Ladder, name: &str, figure: Figure) -> Series {
    let of_load = |(load, steps): &(u32, Vec<&StepAnalysis>)| {
        let (y, high) = middle(steps, figure)?;
        Some(Point { high, ..Point::new(f64::from(*load), y) })
    };
    Series { name: name.to_owned(), look: Look::Curve, points: ladder.by_load.iter().filter_map(of_load).collect() }
}

/// A chart over the loads, where there are at least two and something to draw.
fn plot(ladders: &[Ladder], heading: Heading, y: (&str, Unit), mut series: Vec<Series>) -> Option<Plot> {
    series.retain(|series| series.points.iter().any(|point| point.y > 0.0));
    let has_several_loads = ladders.iter().any(|ladder| ladder.by_load.len() > 1);
    (has_several_loads && !series.is_empty()).then(|| Plot {
        heading,
        x: Axis::linear(loads(ladders), Unit::Number),
        y: Axis::linear(y.0, y.1),
        series,
        ..Plot::default()
    })
}

/// Throughput by load, of a single ladder with its line without any queue.
pub(super) fn throughput(ladders: &[Ladder]) -> Option<Plot> {
    let (visited, flow) = common_rate(ladders);
    let heading = |caption: &str, notes| Heading::new("sessions", "Throughput by load", caption, notes);
    let [ladder] = ladders else {
        let all = ladders.iter().map(|ladder| series(ladder, &ladder.name, visited)).collect();
        let caption = format!("Throughput by load, one curve per configuration: {flow}.");
        return plot(ladders, heading(&caption, not_drawn(ladders, visited, flow)), (flow, Unit::Number), all);
    };
    let visited = series(ladder, flow, visited);
    let reads = series(ladder, "physical reads per second", |step| step.summary.physical_reads_per_s);
    let (first, last) = visited.points.first().cloned().zip(visited.points.last().cloned())?;
    let top = visited.points.iter().map(|point| point.y).fold(0.0, f64::max);
    let linear = linear(&first, &last, top);
    let caption = "Throughput by load, compared with linear growth from the first step.";
    let all = [Some(visited), Some(reads), linear].into_iter().flatten().collect();
    plot(ladders, heading(caption, speed_up_sentence(&first, &last)), ("per second", Unit::Number), all)
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
    let heading = Heading::new(
        "mib",
        "MiB per second by load",
        "MiB (2^20 bytes) read, written and logged per second.",
        "A rate that is zero or not known has no curve.",
    );
    plot(ladders, heading, ("MiB per second", Unit::Number), all)
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
    let heading = Heading::new(
        "cpu-cost",
        "CPU for a read",
        "CPU time of the server per read.",
        "The time of a physical read includes the logical read that caused it.",
    );
    plot(ladders, heading, (y, Unit::Us), all)
}
