//! The best figures of a job on files.

use serde::{Deserialize, Serialize};

/// The best of a job on files, each with the load that gave it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IoJobSummary {
    /// Highest mean latency allowed to small I/Os, us; only of a calibration.
    pub limit_us: Option<f64>,
    /// Most small I/Os per second, within the limit if there is one.
    pub most_small_per_s: Option<IoBest>,
    /// Most MiB (2^20 bytes) per second by large reads.
    pub most_large_mib_per_s: Option<IoBest>,
    /// Lowest mean latency of small I/Os, us.
    pub least_small_us: Option<IoBest>,
}

/// A best figure with its point.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IoBest {
    /// The figure, in the unit in its name.
    pub value: f64,
    /// Mean latency there, us.
    pub mean_us: Option<f64>,
    /// 99th percentile there, us.
    pub p99_us: Option<f64>,
    /// Small I/Os in flight.
    pub small: u32,
    /// Large reads in flight.
    pub large: u32,
    /// Part of the files; null where all steps used the same.
    pub span: Option<String>,
}
