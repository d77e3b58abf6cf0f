//! Results of Orion: its summary, its matrices of IOPS, latency and MBPS, and its terminal output.
//!
//! One run of Orion leaves several files, and one file may contain several runs. So a file yields parts of runs, and
//! the parts of a run become steps after all files are read: a rate from one file and a latency from another are one
//! point.

mod consistency;
pub(crate) mod read;

use std::collections::BTreeMap;

use mindful_core::contract::metric::Counter;
use mindful_core::result::finding::codes;
use mindful_core::{Error, Result};

use super::format::Format;
use crate::input;
use crate::number::{self, Printed};
use crate::old_step::{Growth, MOST_SESSIONS, OldStep};
use read::{Figure, MS, OrionPart, Point, US, unit_us_of_release};

const WHAT: &str = "Orion result";

pub(super) static ORION: Format = Format {
    what: WHAT,
    recognises: read::recognises,
    read: |name, input| {
        let parts = read::parts(name, &input::text(name, input)?)?;
        let step = |part| OldStep { orion: Some(Box::new(part)), ..OldStep::new(name, WHAT, "raw", "orion") };
        Ok(parts.into_iter().map(step).collect())
    },
};

/// Removes the parts of Orion's runs from `steps`; returns the steps of these runs, and the errors.
pub(crate) fn join(steps: &mut Vec<OldStep>, unit: Option<LatencyUnit>) -> (Vec<OldStep>, Vec<Error>) {
    let mut runs: BTreeMap<String, Vec<(String, Box<OrionPart>)>> = BTreeMap::new();
    steps.retain_mut(|step| {
        let Some(mut part) = step.orion.take() else { return true };
        part.findings.append(&mut step.findings);
        runs.entry(part.run.clone()).or_default().push((step.file.clone(), part));
        false
    });
    let (mut joined, mut refused) = (Vec::new(), Vec::new());
    for parts in runs.into_values() {
        let (mut files, parts): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        files.dedup();
        match steps_of(&files, &parts.iter().map(Box::as_ref).collect::<Vec<_>>(), unit) {
            Ok(steps) => joined.extend(steps),
            Err(error) => refused.push(error),
        }
    }
    (joined, refused)
}

/// The length of a large I/O unless the summary shows another, bytes.
const LARGE_BYTES: u64 = 1 << 20;
/// Orion's default duration of a point, s.
const POINT_S: f64 = 60.0;

/// The steps of a run from its `parts`, which were read from `files`.
fn steps_of(files: &[String], parts: &[&OrionPart], unit: Option<LatencyUnit>) -> Result<Vec<OldStep>> {
    let mut loads: BTreeMap<(u32, u32), Vec<Point>> = BTreeMap::new();
    for part in parts {
        let unit_us = latency_unit_us(part, parts, unit)?;
        for point in &part.points {
            let unit = if point.figure == Figure::Latency { unit_us } else { 1.0 };
            let value = point.value.scaled(unit);
            loads.entry((point.large, point.small)).or_default().push(Point { value, ..*point });
        }
    }
    let contradictions = consistency::contradictions(parts, loads.values().flatten().copied());
    let mut steps: Vec<_> = loads.into_values().map(|points| step(files, parts, &points)).collect();
    if let Some(first) = steps.first_mut() {
        let of_writes = match share_of_writes(parts) {
            Some(0.0) => "",
            Some(_) => " Its reads and writes are divided by the share of writes that it shows.",
            None => " Its writes, if there were any, are counted as reads.",
        };
        let text = "Orion shows rates and means only: no percentiles and no CPU. Orion does not examine the data that it reads.";
        first.add_finding(codes::IMPORTED_FIGURES, format!("{text}{of_writes}"), files.join(", "));
        first.add_damage(parts.iter().map(|part| part.damaged_lines).sum(), "line");
        first.findings.extend(parts.iter().flat_map(|part| part.findings.iter().cloned()));
        first.add_contradictions(contradictions);
        first.more_files = files.iter().skip(1).cloned().collect();
    }
    Ok(steps)
}

fn share_of_writes(parts: &[&OrionPart]) -> Option<f64> {
    parts.iter().find_map(|part| part.writes)
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
    let writes = share_of_writes(parts);
    let all_us = value(points, Figure::Latency).filter(|_| writes == Some(1.0));
    step.facts.extend(all_us.map(|us| (format!("mean us of a write at {small} small"), us.to_string())));
    let mixed = parts.iter().flat_map(|part| &part.points).any(|point| point.figure == Figure::ReadLatency);
    step.set_boundaries(vec![0, end_us]);
    step.add_counters("orion", counters(points, seconds, writes, mixed));
    step
}

/// The figure of a load in its summary or its matrix.
fn value(points: &[Point], figure: Figure) -> Option<f64> {
    let stated = points.iter().filter(|point| point.figure == figure).map(|point| Some(point.value));
    stated.reduce(Printed::more_exact).flatten().map(|value| value.value)
}

/// Counters of a load. `writes` is the share of writes. `mixed` is whether there were any, also of unknown share.
fn counters(points: &[Point], seconds: f64, writes: Option<f64>, mixed: bool) -> Vec<Growth> {
    let (read, written) = (1.0 - writes.unwrap_or(0.0), writes.filter(|share| *share > 0.0));
    let ios = value(points, Figure::Iops).map(|rate| rate * seconds);
    let bytes = value(points, Figure::Mbps).map(|rate| rate * f64::from(1 << 20) * seconds);
    let of_all = value(points, Figure::Latency).filter(|_| written.is_none() && !mixed);
    let us = value(points, Figure::ReadLatency).or(of_all);
    let reads = ios.map(|ios| ios * read);
    // A latency without IOPS is that of one I/O.
    let timed = reads.or(us.map(|_| 1.0));
    let of_large = bytes.filter(|_| points.iter().all(|point| point.small == 0));
    vec![
        (Counter::ReadRequests, "1", "small reads", reads),
        (Counter::WriteRequests, "1", "small writes", ios.zip(written).map(|(ios, share)| ios * share)),
        (Counter::SingleReads, "1", "small reads that were timed", us.and(timed)),
        (Counter::SingleReadTimeUs, "us", "time of these", us.zip(timed).map(|(us, ios)| us * ios)),
        (Counter::ProcessReadBytes, "bytes", "large reads", of_large.map(|bytes| bytes * read)),
        (Counter::ProcessWriteBytes, "bytes", "large writes", of_large.zip(written).map(|(all, share)| all * share)),
        (Counter::DeviceReadBytes, "bytes", "large reads", bytes.map(|bytes| bytes * read)),
    ]
}

/// The unit that a user names for latencies in a file without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LatencyUnit {
    Microseconds,
    Milliseconds,
}

/// Fastest I/O of any device, us.
const FASTEST_US: f64 = 8.0;
/// Fewest I/Os per second of any disk that is kept busy.
const SLOWEST_PER_S: f64 = 30.0;
/// Accepted ratio of a latency to the one from Little's law.
const NEAR: std::ops::RangeInclusive<f64> = 0.2..=5.0;

/// The unit of the latencies of the matrix `part`, one of `parts`, us, for all its points: ms before 11.2, us since.
///
/// The version is in the summary of the run. Without it, Little's law decides if the IOPS of the same run are known.
/// Otherwise the abilities of devices decide: no device answers in 2 us, and no busy device does only 10 I/Os per
/// second.
fn latency_unit_us(part: &OrionPart, parts: &[&OrionPart], given: Option<LatencyUnit>) -> Result<f64> {
    let given = given.map(|given| if given == LatencyUnit::Milliseconds { MS } else { US });
    let by_version = || parts.iter().find_map(|other| other.version.as_deref()).map(unit_us_of_release);
    if let Some(known) = part.latency_unit_us.or(given).or_else(by_version) {
        return Ok(known);
    }
    let latencies = || part.points.iter().filter(|point| point.figure == Figure::Latency && point.large == 0);
    let iops = |at: &Point| {
        let all = parts.iter().flat_map(|other| &other.points);
        all.filter(|point| point.figure == Figure::Iops)
            .find(|point| (point.small, point.large) == (at.small, at.large))
    };
    let ratios: Vec<f64> = latencies()
        .filter_map(|latency| Some(latency.value.value * iops(latency)?.value.value / (f64::from(latency.small) * 1e6)))
        .collect();
    let by_law = |unit_us: f64| !ratios.is_empty() && ratios.iter().all(|ratio| NEAR.contains(&(ratio * unit_us)));
    let possible = |unit_us: f64| {
        latencies().all(|latency| {
            let latency_us = latency.value.value * unit_us;
            latency_us >= FASTEST_US && f64::from(latency.small.max(1)) / latency_us * 1e6 >= SLOWEST_PER_S
        })
    };
    match (by_law(US), by_law(MS), possible(US), possible(MS)) {
        (true, false, ..) | (false, false, true, false) => Ok(US),
        (false, true, ..) | (false, false, false, true) => Ok(MS),
        _ => Err(Error::plan(
            format!("{}_lat.csv does not show the unit of its latencies", part.run),
            "pass --unit us (Orion 11.2 and later) or --unit ms (before), or give the summary of the same run too",
        )),
    }
}
