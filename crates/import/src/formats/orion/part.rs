//! The part of an Orion run in one file, and the unit of its latencies.

use std::collections::BTreeMap;

use mindful_core::result::finding::Finding;
use mindful_core::{Error, Result};

use crate::number::Printed;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Figure {
    /// Small I/Os per second.
    Iops,
    /// Mean of all small I/Os.
    Latency,
    /// Mean of small reads of a run with writes.
    ReadLatency,
    /// MB (2^20 bytes) per second of large I/Os.
    Mbps,
}

/// A figure and the load that gave it: I/Os in flight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Point {
    pub figure: Figure,
    pub small: u32,
    pub large: u32,
    pub value: Printed,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct OrionPart {
    pub run: String,
    pub points: Vec<Point>,
    /// Lines of the summary about the measurement.
    pub facts: BTreeMap<String, String>,
    pub disks: Vec<String>,
    pub version: Option<String>,
    /// Share of writes among the I/Os; `None` if the file does not show it.
    pub writes: Option<f64>,
    /// The unit of latencies, us; `None` for a matrix, which does not name its unit.
    pub latency_unit_us: Option<f64>,
    pub damaged_lines: u64,
    /// Lines with figures that contradict each other, in words.
    pub contradictions: Vec<String>,
    pub findings: Vec<Finding>,
}

impl OrionPart {
    pub(crate) fn new(run: &str) -> Self {
        Self { run: run.to_owned(), latency_unit_us: Some(1.0), ..Self::default() }
    }
}

/// The unit that a user names for latencies in a file without one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LatencyUnit {
    Microseconds,
    Milliseconds,
}

pub(super) const MS: f64 = 1e3;
const US: f64 = 1.0;

/// Fastest I/O of any device, us.
const FASTEST_US: f64 = 8.0;
/// Fewest I/Os per second of any disk that is kept busy.
const SLOWEST_PER_S: f64 = 30.0;
/// Accepted ratio of a latency to the one from Little's law.
const NEAR: std::ops::RangeInclusive<f64> = 0.2..=5.0;

/// The unit of the latencies of the matrix `part`, us, for all its points: ms before 11.2, us since.
///
/// The version is in the summary of the run. Without it, Little's law decides if the IOPS of the same run are known.
/// Otherwise the abilities of devices decide: no device answers in 2 us, and no busy device does only 10 I/Os per
/// second.
///
/// # Errors
/// Both units are possible.
pub(super) fn latency_unit_us(part: &OrionPart, others: &[&OrionPart], given: Option<LatencyUnit>) -> Result<f64> {
    let given = given.map(|given| if given == LatencyUnit::Milliseconds { MS } else { US });
    let by_version = || others.iter().find_map(|other| other.version.as_deref()).map(unit_us_of_release);
    if let Some(known) = part.latency_unit_us.or(given).or_else(by_version) {
        return Ok(known);
    }
    let latencies = || part.points.iter().filter(|point| point.figure == Figure::Latency && point.large == 0);
    let iops = |at: &Point| {
        let all = others.iter().flat_map(|other| &other.points);
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

/// The unit of latencies without one: ms before 11.2, us since.
pub(super) fn unit_us_of_release(version: &str) -> f64 {
    let mut parts = version.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    if (parts.next().unwrap_or(0), parts.next().unwrap_or(0)) < (11, 2) { MS } else { US }
}
