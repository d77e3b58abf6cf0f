//! Results of a whole sweep: its knee, and the highest load that met an objective.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// The highest load that met an objective for its full length, with the precision of its figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ObjectiveSummary {
    /// The objective: `p99<=1ms`.
    pub objective: String,
    /// The searched load: `sessions`, or `rate` in operations per second.
    pub key: String,
    /// The load.
    pub load: f64,
    /// The highest load that certainly meets the objective, and the lowest that misses it; null if no load missed it.
    /// Between them noise decides.
    pub load_range: Option<[f64; 2]>,
    /// Number of the step that contains the figures, from 1.
    pub step: u32,
    /// Blocks visited per second there.
    pub blocks_visited_per_s: Option<f64>,
    /// `[low, high]` of it, 95 %, by how its seconds differ; null below ten of them.
    pub blocks_visited_per_s_interval: Option<[f64; 2]>,
    /// The percentile of the objective there, us.
    pub latency_us: Option<f64>,
    /// `[low, high]` of it, 95 %, from the number of operations beyond it in each second. Null below ten seconds, and
    /// if fewer than ten operations lie beyond the upper end.
    pub latency_us_interval: Option<[f64; 2]>,
}

/// One ladder of sessions among several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CurveSummary {
    /// The other keys and their values.
    pub values: BTreeMap<String, String>,
    /// Its knee.
    pub knee: KneeSummary,
}

stored_names! {
    /// A figure of [`KneeSummary`] that has an interval.
    pub enum KneeFigure {
        AsymptoteSessions = "asymptote_sessions",
        BestPowerSessions = "best_power_sessions",
        PeakSessions = "peak_sessions",
        MaxPerS = "max_per_s",
    }
}

/// The knee of a ladder of sessions.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KneeSummary {
    /// Name of the model that describes the ladder best; null when the ladder has too few points for one.
    pub model: Option<String>,
    /// Why there is no model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
    /// Below it sessions wait for nothing, above it they queue.
    pub asymptote_sessions: Option<f64>,
    /// Sessions of the best throughput per latency.
    pub best_power_sessions: Option<f64>,
    /// Most sessions that met the objective.
    pub slo_sessions: Option<u32>,
    /// Sessions of the highest throughput, where more of them make it fall.
    pub peak_sessions: Option<f64>,
    /// Highest throughput, blocks visited per second: the fitted capacity where a model is named, else the most that a step did.
    pub max_per_s: Option<f64>,
    /// `[low, high]` of the figures above, 95 %, by their names.
    pub intervals: BTreeMap<String, [f64; 2]>,
}
