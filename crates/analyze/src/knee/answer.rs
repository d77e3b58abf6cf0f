//! The answer of a ladder of loads.

use std::collections::BTreeMap;

use mindful_core::result::KneeFigure;

use super::fit::Fit;
use super::model::ModelKind;
use crate::stats::interval::Interval;

#[derive(Debug, Clone, PartialEq)]
pub struct Knee {
    pub model: ModelKind,
    /// A second one that describes them as well.
    pub alternative: Option<ModelKind>,
    /// All fits, the best one first.
    pub fits: Vec<Fit>,
    /// Zero-load latency by capacity, `R0 C`: below it sessions do not wait, above it they queue. `None` if fewer than
    /// two points lie past it.
    pub asymptote_sessions: Option<f64>,
    /// Sessions of the best throughput per latency; `None` if no load reached it.
    pub best_power_sessions: Option<f64>,
    /// Most sessions with a 99th percentile that meets the objective.
    pub slo_sessions: Option<f64>,
    /// Sessions of the highest throughput, if more of them certainly reduce it; `None` also if it lies past the
    /// measured loads.
    pub peak_sessions: Option<f64>,
    /// Highest throughput within the measured loads, per second.
    pub max_per_s: f64,
    /// Latency of a single session, us.
    pub zero_load_us: f64,
    /// Intervals of its figures; empty without a bootstrap.
    pub intervals: BTreeMap<KneeFigure, Interval>,
}
