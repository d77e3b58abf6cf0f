//! Latencies as fio writes them: moments, percentiles, counts by value, and shares by bounds.

use mindful_analyze::figures::work::KindWork;
use serde_json::{Map, Value, json};

/// Percentiles that fio lists.
const LISTED: [f64; 17] =
    [1.0, 5.0, 10.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0, 95.0, 99.0, 99.5, 99.9, 99.95, 99.99];

/// The scales of its shares: a name, the bounds in ns of what is counted there, and whether all beyond is counted too.
const SCALES: [(&str, u64, &[u64], bool); 3] = [
    ("latency_ns", 1, &[2, 4, 10, 20, 50, 100, 250, 500, 750, 1_000], false),
    ("latency_us", 1_000, &[2, 4, 10, 20, 50, 100, 250, 500, 750, 1_000], false),
    ("latency_ms", 1_000_000, &[2, 4, 10, 20, 50, 100, 250, 500, 750, 1_000, 2_000], true),
];

/// What is not timed apart.
pub fn none() -> Value {
    json!({ "min": 0, "max": 0, "mean": 0.0, "stddev": 0.0, "N": 0 })
}

/// Of reads or writes, ns; a percentile with fewer than ten beyond it is left out.
pub fn of(kind: &KindWork) -> Value {
    let recorded = kind.response.as_ref().unwrap_or(&kind.service);
    if recorded.count() == 0 {
        return none();
    }
    let histogram = recorded.histogram();
    let (mut percentiles, mut bins) = (Map::new(), Map::new());
    for share in LISTED {
        let ns = recorded.quantile_ns(share / 100.0);
        percentiles.extend(ns.map(|ns| (format!("{share:.6}"), ns.into())));
    }
    for step in histogram.iter_recorded() {
        let ns = histogram.median_equivalent(step.value_iterated_to());
        bins.insert(ns.to_string(), step.count_at_value().into());
    }
    json!({
        "min": histogram.min(),
        "max": recorded.max_ns(),
        "mean": recorded.mean_ns(),
        "stddev": histogram.stdev(),
        "N": recorded.count(),
        "percentile": percentiles,
        "bins": bins,
    })
}

/// `(name, shares)`: which percent of reads and writes together took less than each bound, and not less than the one before.
pub fn shares(sides: [&KindWork; 2]) -> Vec<(&'static str, Value)> {
    let recorded = sides.map(|kind| kind.response.as_ref().unwrap_or(&kind.service));
    let all: u64 = recorded.iter().fold(0, |all: u64, each| all.saturating_add(each.count()));
    let percent = |from: u64, to: u64| {
        let inside = |ns: u64| from <= ns && ns < to;
        let of = |each: &mindful_core::record::latency::Recorder| {
            let steps = each.histogram().iter_recorded();
            let counts = steps.filter(|step| inside(each.histogram().median_equivalent(step.value_iterated_to())));
            counts.fold(0, |sum: u64, step| sum.saturating_add(step.count_at_value()))
        };
        let count = recorded.iter().fold(0, |sum: u64, each| sum.saturating_add(of(each)));
        if all == 0 { 0.0 } else { 100.0 * count as f64 / all as f64 }
    };
    let mut from = 0;
    let mut scales = Vec::new();
    for (name, unit, bounds, beyond) in SCALES {
        let mut shares = Map::new();
        for bound in bounds {
            let to = bound * unit;
            shares.insert(bound.to_string(), percent(from, to).into());
            from = to;
        }
        if beyond {
            shares.insert(">=2000".to_owned(), percent(from, u64::MAX).into());
        }
        scales.push((name, shares.into()));
    }
    scales
}
