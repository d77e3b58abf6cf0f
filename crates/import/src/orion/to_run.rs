//! Points as steps, those of the same load in one.

use std::collections::BTreeMap;

use mindful_core::contract::event::Event;
use mindful_core::contract::metric::{Metric, shared};
use mindful_core::result::finding::codes;

use super::read::{Figure, Point, Read};
use crate::number;
use crate::reported::Reported;

/// What Orion gives a point unless reported otherwise, s.
const POINT_S: f64 = 60.0;

/// The steps.
pub fn reported(name: &str, read: &Read) -> Vec<Reported> {
    let mut loads: BTreeMap<(u32, u32), Vec<Point>> = BTreeMap::new();
    for point in &read.points {
        loads.entry((point.large, point.small)).or_default().push(*point);
    }
    let mut reported: Vec<_> = loads.into_values().map(|points| step(name, read, &points)).collect();
    if let Some(first) = reported.first_mut() {
        let text = "Orion tells rates and means alone: no percentiles, no CPU, and reads that nobody looked at. Its writes, \
                    if it was given any, are counted with its reads.";
        first.caveat(codes::IMPORTED_FIGURES, text, name);
    }
    reported
}

fn step(name: &str, read: &Read, points: &[Point]) -> Reported {
    let mut reported = Reported::new(name, "Orion result", "raw", "orion");
    reported.version = read.version.as_ref().map(|version| format!("Orion {version}"));
    reported.facts.clone_from(&read.facts);
    let size = |fact: &str| {
        let kb = read.facts.get(fact)?.split(' ').next()?;
        Some(number::count(kb)?.value * 1024.0)
    };
    let (small, large) = points.first().map_or((0, 0), |point| (point.small, point.large));
    reported.block_bytes = size("Small IO size").map(|bytes| bytes as u64);
    reported.sessions = small.checked_add(large).filter(|load| (1..=100_000).contains(load));
    reported.point = match (small, large) {
        (_, 0) => BTreeMap::new(),
        (0, _) => BTreeMap::from([("size".to_owned(), "large".to_owned())]),
        (_, large) => BTreeMap::from([("large".to_owned(), large.to_string())]),
    };
    let reported_s = || read.facts.get("Duration for each Data Point")?.split(' ').next()?.parse::<f64>().ok();
    let seconds = reported_s().filter(|s| *s > 0.0 && *s < 1e6).unwrap_or(POINT_S);
    let end_us = (seconds * 1e6) as i64;
    let value = |figure: Figure| points.iter().find(|point| point.figure == figure).map(|point| point.value);
    let ios = value(Figure::Iops).map(|rate| rate * seconds);
    let us = value(Figure::Latency);
    let bytes = value(Figure::Mbps).map(|rate| rate * f64::from(1 << 20) * seconds);
    // A latency alone is that of one I/O.
    let timed = ios.or(us.map(|_| 1.0));
    reported.boundaries(vec![0, end_us]);
    let counter = |counter: mindful_core::contract::metric::Counter, unit: &str, help: &str| {
        Metric::counter(counter.name(), unit, help)
    };
    reported.grew(
        "orion",
        (0, end_us),
        1,
        vec![
            (counter(shared::READ_REQUESTS, "1", "small I/Os"), ios),
            (counter(shared::SINGLE_READS, "1", "small I/Os that were timed"), us.and(timed)),
            (counter(shared::SINGLE_READ_TIME_US, "us", "time of these"), us.zip(timed).map(|(us, ios)| us * ios)),
            (counter(shared::DEVICE_READ_BYTES, "bytes", "large I/Os"), bytes),
        ],
    );
    reported.events.push(Event::StepEnd { error: None, interrupted: false });
    reported
}
