//! All that a comparison tells.

use std::collections::BTreeMap;

use mindful_analyze::compare::comparable::Difference;
use mindful_analyze::compare::{CurveComparison, PercentileShift, PointComparison};
use mindful_core::plan::price::Price;
use mindful_runner::repetition::Figure;
use serde::Serialize;

/// All that a comparison tells.
pub struct Reported {
    /// What is compared.
    pub figure: Figure,
    /// What baseline and candidate are called.
    pub names: [String; 2],
    /// The verdicts.
    pub points: Vec<PointComparison>,
    /// The medians of both sides at each of them.
    pub medians: Vec<[f64; 2]>,
    /// How the percentiles of latency moved.
    pub latencies: Vec<KindShifts>,
    /// How whole curves over sessions differ.
    pub curves: Vec<(BTreeMap<String, String>, CurveComparison)>,
    /// In what the sides differ.
    pub differing: Vec<Difference>,
    /// Settings in which alone they differ, and which cannot matter for what was measured.
    pub idle_settings: Vec<String>,
    /// What an hour of each side costs, where both tell it in one currency.
    pub prices: Option<[Price; 2]>,
}

/// The percentiles of one kind of operation.
#[derive(Serialize)]
pub struct KindShifts {
    /// The point of a sweep; empty for plain runs.
    pub at: BTreeMap<String, String>,
    /// `select`, `update` or `scan`.
    pub kind: &'static str,
    /// Candidate by baseline.
    pub shifts: Vec<PercentileShift>,
}
