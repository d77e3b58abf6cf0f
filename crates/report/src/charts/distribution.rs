//! The distribution of operations and of their time by latency.

use mindful_analyze::StepAnalysis;
use mindful_analyze::figures::heat::{Fineness, Heat, HeatMap};
use mindful_core::record::run::StepRecord;
use mindful_core::workload::OpKind;

use crate::drawing::frame::{Drawing, Heading};
use crate::drawing::plot::{Axis, Guide, Look, Plot, Point, Series};
use crate::drawing::scale::Unit;
use crate::figure::time_us;

const FINENESS: Fineness = Fineness { columns: 1, bands_a_decade: 20 };

/// The distribution of a step's main operations; `None` without timings.
pub(super) fn drawing(record: &StepRecord, step: &StepAnalysis) -> Option<Drawing> {
    let kind = if step.summary.ops.select.is_some() { OpKind::Select } else { OpKind::Update };
    let map = HeatMap::from_step(record, step.window.as_ref()?, kind, FINENESS)?;
    let op = step.summary.ops.get(kind);
    let marks = [("median", op.and_then(|op| op.p50_us)), ("p99", op.and_then(|op| op.p99_us))];
    let mark =
        |(name, us): (&str, Option<f64>)| us.map(|us| Guide::Upright(us, None, format!("{name} {}", time_us(us))));
    let heading = Heading::new(
        "distribution",
        format!("How long each {} took", kind.name()),
        "Share of operations, and of their total time, in each band of latency.",
        "There are twenty bands per factor of ten. If the curve of time is to the right of the curve of operations, few \
         operations took much of the time.",
    );
    let plot = Plot {
        heading,
        x: Axis { name: format!("latency of each {}", kind.name()), unit: Unit::Us, log: true },
        y: Axis::linear("percent in each band", Unit::Number),
        labels: "",
        series: vec![bands("of operations", &map, Heat::Frequency), bands("of their time", &map, Heat::Intensity)],
        guides: marks.into_iter().filter_map(mark).collect(),
    };
    Some(plot.drawing())
}

/// A share a band: each point is a band's lower end.
fn bands(name: &str, map: &HeatMap, heat: Heat) -> Series {
    let shares = map.shares(heat).into_iter().chain([0.0]);
    let point = |(ns, share): (&f64, f64)| Point::new(ns / 1e3, share * 100.0);
    Series { name: name.to_owned(), look: Look::Steps, points: map.edges_ns.iter().zip(shares).map(point).collect() }
}
