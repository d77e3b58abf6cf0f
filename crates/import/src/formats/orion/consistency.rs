//! Whether the figures of a run of Orion agree with each other.
//!
//! Its summary contains the best figures of its matrices, and Orion keeps as many small I/Os in flight as the load names: by
//! Little's law that is their rate times their latency.

use super::read::{Figure, OrionPart, Point};
use crate::number::{APART, Printed};

/// Accepted deviation of a load from Little's law, a share: I/Os are also prepared.
const LAW: f64 = 0.2;

/// Contradictions in the `parts` of a run, in words. `points` are all of their points, latencies in us.
pub(super) fn contradictions(parts: &[&OrionPart], points: impl Iterator<Item = Point>) -> Vec<String> {
    let points: Vec<_> = points.collect();
    let found = parts.iter().flat_map(|part| part.contradictions.iter().cloned());
    found.chain(twice(&points)).chain(beyond_best(parts, &points)).chain(law(&points)).collect()
}

fn named(point: &Point) -> String {
    let value = point.value.value;
    match point.figure {
        Figure::Iops => format!("{value:.0} IOPS"),
        Figure::Latency | Figure::ReadLatency => format!("{value:.2} us"),
        Figure::Mbps => format!("{value:.2} MBPS"),
    }
}

fn at(point: &Point) -> String {
    match (point.small, point.large) {
        (small, 0) => format!("at {small} small"),
        (0, large) => format!("at {large} large"),
        (small, large) => format!("at {small} small and {large} large"),
    }
}

/// One figure of one load that is stated twice.
fn twice(points: &[Point]) -> Vec<String> {
    let load = |point: &Point| (point.figure, point.small, point.large);
    let mut found = Vec::new();
    for (place, point) in points.iter().enumerate() {
        let other = points[place + 1..].iter().find(|other| load(other) == load(point));
        if let Some(other) = other.filter(|other| point.value.differs(other.value, APART)) {
            found.push(format!("{} and {} {}", named(point), named(other), at(point)));
        }
    }
    found
}

/// Figures of matrices beyond the best ones of the summary.
fn beyond_best(parts: &[&OrionPart], points: &[Point]) -> Vec<String> {
    let summaries = || parts.iter().filter(|part| part.version.is_some()).flat_map(|part| &part.points);
    let beyond = |figure: Figure| {
        let better = |a: &Point, b: &Point| match figure {
            Figure::Latency | Figure::ReadLatency => b.value.exceeds(a.value, APART),
            Figure::Iops | Figure::Mbps => a.value.exceeds(b.value, APART),
        };
        let best = summaries().find(|point| point.figure == figure)?;
        let mut others = points.iter().filter(|point| point.figure == figure);
        let of_all = |point: &&Point| summaries().filter(|of| of.figure == figure).all(|of| better(point, of));
        let further = others.find(of_all)?;
        Some(format!("{} as the best, {} {}", named(best), named(further), at(further)))
    };
    [Figure::Iops, Figure::Latency, Figure::Mbps].into_iter().filter_map(beyond).collect()
}

/// Rates and latencies of one load.
fn law(points: &[Point]) -> Vec<String> {
    let mut found = Vec::new();
    for rate in points.iter().filter(|point| point.figure == Figure::Iops && point.small > 0) {
        let same =
            |point: &&Point| point.figure == Figure::Latency && (point.small, point.large) == (rate.small, rate.large);
        let Some(latency) = points.iter().find(same) else { continue };
        let held = rate.value.times(latency.value).scaled(1e-6);
        if held.differs(Printed::exact(f64::from(rate.small)), LAW) {
            found.push(format!("{} of {} {}: {:.2} in flight", named(rate), named(latency), at(rate), held.value));
        }
    }
    found
}
