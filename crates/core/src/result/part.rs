//! The work of sessions and ranks, the frequency of choices, and the values that each source of counters reported in
//! the window.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Each session of a step, in the order of their numbers. Times count from the common start instant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BySession {
    /// When it began its first slice, ms.
    pub start_ms: Vec<f64>,
    /// When it ended its last, ms.
    pub stop_ms: Vec<f64>,
    /// Its operations in the window.
    pub ops: Vec<f64>,
}

/// One of the processes that took a step together; null if not known.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankSummary {
    /// Its number, from 0.
    pub rank: u32,
    /// Number of sessions.
    pub of: u32,
    /// Name of its host.
    pub host: String,
    /// Its sessions.
    pub sessions: u32,
    /// Its operations in the window by those of all ranks, 0 to 1.
    pub ops_share: Option<f64>,
    /// Cores' worth of CPU its process used.
    pub client_cores: Option<f64>,
    /// CPUs its process might use.
    pub client_cpus: Option<f64>,
    /// Start of the last of its sessions after the first start of any rank's, ms.
    pub start_skew_ms: Option<f64>,
    /// The rendezvous' clock minus the host's, ms.
    pub clock_offset_ms: Option<f64>,
    /// Error of the offset, ms.
    pub clock_within_ms: Option<f64>,
}

/// Frequency of the workload's choices.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ChoicesSummary {
    /// Operations tallied.
    pub operations: u64,
    /// Share of operations with each choice, percent: `update`, `scan`, `hot_spot`, `hot_schema`, `think`.
    pub alone_pct: BTreeMap<String, f64>,
    /// Share of operations with each set of choices, percent, such as `update+hot_spot`; `select` is a read without any
    /// of them. They add up to 100.
    pub joint_pct: BTreeMap<String, f64>,
}

/// A source of counters, such as `pg_stat_io` or `diskstats`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ObservedSource {
    /// Its name.
    pub source: String,
    /// Readings of the step, warm-up included.
    pub readings: u32,
    /// Time of a reading, us: the mean of all readings.
    pub cost_us: Option<f64>,
    /// Time from a boundary of slices to its reading, us: the mean of all readings.
    pub delay_us: Option<f64>,
    /// Its metrics in the window, by name.
    pub metrics: BTreeMap<String, ObservedMetric>,
}

/// A metric in the window.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ObservedMetric {
    /// Growth of a counter per second, or mean of a gauge; null where a reading is missing or the counter fell.
    pub value: Option<f64>,
    /// Standard deviation of that growth from one reading to the next, or of the gauge; null with fewer than two of them.
    pub deviation: Option<f64>,
}
