//! Points of a run as steps, those of one load together.

use std::collections::BTreeMap;

use mindful_core::Result;
use mindful_core::contract::metric::Counter;
use mindful_core::result::finding::codes;

use super::consistency;
use super::part::{Figure, LatencyUnit, OrionPart, Point, latency_unit_us};
use crate::number::{self, Printed};
use crate::old_step::{MOST_SESSIONS, OldStep};

/// The length of a large I/O unless the summary shows another, bytes.
const LARGE_BYTES: u64 = 1 << 20;
/// Orion's default duration of a point, s.
const POINT_S: f64 = 60.0;

/// The steps of a run from its `parts`, which were read from `files`.
///
/// # Errors
/// The unit of its latencies is not known.
pub(super) fn steps(files: &[String], parts: &[&OrionPart], unit: Option<LatencyUnit>) -> Result<Vec<OldStep>> {
    let mut loads: BTreeMap<(u32, u32), Vec<Point>> = BTreeMap::new();
    for (place, part) in parts.iter().enumerate() {
        let others: Vec<_> = parts.iter().enumerate().filter(|(at, _)| *at != place).map(|(_, other)| *other).collect();
        let unit_us = latency_unit_us(part, &others, unit)?;
        for point in &part.points {
            let unit = if point.figure == Figure::Latency { unit_us } else { 1.0 };
            let value = point.value.scaled(unit);
            loads.entry((point.large, point.small)).or_default().push(Point { value, ..*point });
        }
    }
    let contradictions = consistency::contradictions(parts, loads.values().flatten().copied());
    let mut steps: Vec<_> = loads.into_values().map(|points| step(files, parts, &points)).collect();
    if let Some(first) = steps.first_mut() {
        let text = "Orion shows rates and means only: no percentiles and no CPU. Orion does not examine the data that it reads. Its writes, if \
                    there were any, are counted as reads.";
        first.add_finding(codes::IMPORTED_FIGURES, text, files.join(", "));
        first.add_damage(parts.iter().map(|part| part.damaged_lines).sum(), "line");
        first.findings.extend(parts.iter().flat_map(|part| part.findings.iter().cloned()));
        first.add_contradictions(contradictions);
        first.more_files = files.iter().skip(1).cloned().collect();
    }
    Ok(steps)
}

/// A fact of the summary, for any capitalisation.
fn fact<'a>(parts: &[&'a OrionPart], name: &str) -> Option<&'a str> {
    let mut facts = parts.iter().flat_map(|part| &part.facts);
    facts.find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
}

fn step(files: &[String], parts: &[&OrionPart], points: &[Point]) -> OldStep {
    let disks: Vec<_> = parts.iter().flat_map(|part| &part.disks).map(String::as_str).collect();
    let target = if disks.is_empty() { "orion".to_owned() } else { format!("orion: {}", disks.join(", ")) };
    let mut step = OldStep::new(files.first().map_or("", String::as_str), "Orion result", "raw", target);
    step.series = parts.first().map(|part| part.run.clone());
    let version = parts.iter().find_map(|part| part.version.as_ref());
    step.version = version.map(|version| format!("Orion {version}"));
    step.facts = parts.iter().flat_map(|part| part.facts.clone()).collect();
    let first_number = |name: &str| Some(number::count(fact(parts, name)?.split(' ').next()?)?.value);
    let (small, large) = points.first().map_or((0, 0), |point| (point.small, point.large));
    step.block_bytes = first_number("Small IO size").map(|kib| (kib * 1024.0) as u64);
    step.sessions = small.checked_add(large).filter(|load| (1..=MOST_SESSIONS).contains(load));
    step.point = match (small, large) {
        (_, 0) => BTreeMap::new(),
        (0, _) => {
            let bytes = first_number("Large IO size").map_or(LARGE_BYTES, |kib| (kib * 1024.0) as u64);
            BTreeMap::from([("block_size".to_owned(), number::exact_bytes(bytes))])
        }
        (_, large) => BTreeMap::from([("large".to_owned(), large.to_string())]),
    };
    let seconds = first_number("Duration for each Data Point").filter(|s| *s > 0.0 && *s < 1e6).unwrap_or(POINT_S);
    let end_us = (seconds * 1e6) as i64;
    // A summary and a matrix state the same figure.
    let value = |figure: Figure| {
        let stated = points.iter().filter(|point| point.figure == figure).map(|point| Some(point.value));
        stated.reduce(Printed::more_exact).flatten().map(|value| value.value)
    };
    let ios = value(Figure::Iops).map(|rate| rate * seconds);
    let us = value(Figure::Latency);
    let bytes = value(Figure::Mbps).map(|rate| rate * f64::from(1 << 20) * seconds);
    // A latency without IOPS is that of one I/O.
    let timed = ios.or(us.map(|_| 1.0));
    step.set_boundaries(vec![0, end_us]);
    let counters = vec![
        (Counter::ReadRequests, "1", "small I/Os", ios),
        (Counter::SingleReads, "1", "small I/Os that were timed", us.and(timed)),
        (Counter::SingleReadTimeUs, "us", "time of these", us.zip(timed).map(|(us, ios)| us * ios)),
        (Counter::ProcessReadBytes, "bytes", "large I/Os", bytes.filter(|_| small == 0)),
        (Counter::DeviceReadBytes, "bytes", "large I/Os", bytes),
    ];
    step.add_counters("orion", (0, end_us), 1, counters);
    step.end(None);
    step
}
