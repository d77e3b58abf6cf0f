//! What a ladder of loads says.

use std::collections::BTreeMap;

use mindful_core::result::KneeFigure;

use super::fit::Fit;
use super::model::ModelKind;
use super::slo::SloPoint;
use crate::stats::interval::Interval;

#[derive(Debug, Clone, PartialEq)]
pub struct Knee {
    pub model: ModelKind,
    /// A second one that describes them as well.
    pub alternative: Option<ModelKind>,
    /// All fits, the best one first.
    pub fits: Vec<Fit>,
    /// Zero-load latency by capacity, `R0 C`: below it sessions wait for nothing, above it they queue. `None` where
    /// fewer than two points lie past it.
    pub asymptote_sessions: Option<f64>,
    /// Sessions of the best throughput per latency; `None` where it was not reached.
    pub best_power_sessions: Option<f64>,
    /// Most sessions with a 99th percentile that meets the objective.
    pub slo_sessions: Option<SloPoint>,
    /// Sessions of the highest throughput, where more of them surely make it fall; `None` also where that would be
    /// past the measured loads.
    pub peak_sessions: Option<f64>,
    /// Highest throughput within the measured loads, per second.
    pub max_per_s: f64,
    /// Latency of one session alone, us.
    pub zero_load_us: f64,
    /// Of those of its figures that have one; empty where no bootstrap was asked for.
    pub intervals: BTreeMap<KneeFigure, Interval>,
}
