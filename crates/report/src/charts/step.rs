//! Pictures of a step: the distribution of its latencies, and its reads at each level.

use mindful_analyze::StepAnalysis;
use mindful_analyze::figures::heat::{Fineness, Heat, HeatMap};
use mindful_analyze::judgement::ledger::LedgerRow;
use mindful_core::record::run::StepRecord;
use mindful_core::workload::OpKind;

use crate::drawing::bars::{Bar, Bars};
use crate::drawing::frame::{Drawing, Heading};
use crate::drawing::plot::{Axis, Guide, Look, Plot, Point, Series};
use crate::drawing::scale::Unit;
use crate::figure::{number, time_us};

const FINENESS: Fineness = Fineness { columns: 1, bands_a_decade: 20 };

/// The distribution of a step's main operations; `None` without timings.
pub(super) fn distribution(record: &StepRecord, step: &StepAnalysis) -> Option<Drawing> {
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
        series: vec![bands("of operations", &map, Heat::Frequency), bands("of their time", &map, Heat::Intensity)],
        guides: marks.into_iter().filter_map(mark).collect(),
        ..Plot::default()
    };
    Some(plot.drawing())
}

/// A share a band: each point is a band's lower end.
fn bands(name: &str, map: &HeatMap, heat: Heat) -> Series {
    let shares = map.shares(heat).into_iter().chain([0.0]);
    let point = |(ns, share): (&f64, f64)| Point::new(ns / 1e3, share * 100.0);
    Series { name: name.to_owned(), look: Look::Steps, points: map.edges_ns.iter().zip(shares).map(point).collect() }
}

/// The level above all, which does not count reads: compared with the blocks it visits it would be a line.
const OPERATIONS: &str = "operations";

/// How the levels below the device begin; other rows set in are parts of the one above them, and no level.
const BELOW: &str = "  below";

/// The funnel of a step; `None` if no level is known.
pub(super) fn ledger(step: &StepAnalysis) -> Option<Drawing> {
    let rows = &step.ledger.reads;
    let is_level =
        |row: &&LedgerRow| row.name != OPERATIONS && (!row.name.starts_with("  ") || row.name.starts_with(BELOW));
    let bars: Vec<Bar> = rows.iter().filter(is_level).map(bar).collect();
    if !bars.iter().any(|bar| bar.span.is_some()) {
        return None;
    }
    let operations = rows.iter().find(|row| row.name == OPERATIONS).and_then(|row| row.per_s);
    let operations = operations.map_or_else(String::new, |rate| format!(", for {} operations/s", number(rate)));
    let heading = Heading::new(
        "ledger",
        "Reads at each level, from blocks visited to the device",
        format!("Reads per second as counted at each level{operations}."),
        "The width of a bar is the rate. A ratio compares a level with the level above it; the remark says why it differs.",
    );
    Some(Bars::around_middle(heading, bars, ["level", "per second and ratio", "why it differs"]).drawing())
}

fn bar(row: &LedgerRow) -> Bar {
    let ratio = row.ratio.map_or_else(String::new, |ratio| format!(", ratio {ratio:.2}"));
    let expected = row.expected.map_or_else(String::new, |expected| format!(" ({expected:.2} expected)"));
    let value = row.per_s.map(|rate| format!("{} per second{ratio}{expected}", number(rate)));
    Bar {
        name: row.name.trim().to_owned(),
        span: row.per_s.map(|rate| [0.0, rate]),
        value: value.unwrap_or_else(|| "not known".to_owned()),
        remark: row.gap.clone().unwrap_or_default(),
        ..Bar::default()
    }
}
