//! The summary of single waits from a trace, as `trace --format json` prints it.

use serde::{Deserialize, Serialize};

/// The waits of one file, grouped.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TraceSummary {
    /// Name of the file.
    pub file: String,
    /// The fields that make a group, separated by ` | `.
    pub group_by: String,
    /// Waits in the file, before the filter.
    pub waits_in_trace: u64,
    /// Lines with figures that cannot be read; they are not counted.
    pub damaged_lines: u64,
    /// Bytes of the file that are zeros: their original content is lost.
    pub zero_bytes: u64,
    /// Whether percentiles of groups are exact; with very many different latencies they are up to an eighth too low.
    pub groups_exact: bool,
    /// All waits that passed the filter.
    pub all: WaitFigures,
    /// Reads, by how they came.
    pub reads: Vec<ReadFigures>,
    /// The groups, most time first.
    pub groups: Vec<GroupFigures>,
}

/// One group.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupFigures {
    /// Values of its fields, separated by ` | `.
    pub key: String,
    /// Its waits.
    #[serde(flatten)]
    pub figures: WaitFigures,
}

/// Reads of one kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ReadFigures {
    /// How they came: `single block`, `several neighbours`, `parallel (prefetch)`, `direct path`.
    pub kind: String,
    /// Blocks they read; null where the trace does not show them.
    pub blocks: Option<u64>,
    /// Blocks of one of the reads that show them.
    pub blocks_per_read: Option<f64>,
    /// The reads.
    #[serde(flatten)]
    pub figures: WaitFigures,
}

/// A set of waits in figures; null if it is empty.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WaitFigures {
    /// Number of waits.
    pub waits: u64,
    /// Their time, us.
    pub time_us: u64,
    /// Mean, us.
    pub mean_us: Option<f64>,
    /// The shortest, us.
    pub min_us: Option<u64>,
    /// The longest, us.
    pub max_us: Option<u64>,
    /// Percentiles by number: half of the waits are not longer than `p50`.
    pub counted_us: TracePercentiles,
    /// Percentiles by time: half of the time was spent in waits not longer than `p50`.
    pub time_weighted_us: TracePercentiles,
    /// By factors of ten; ranges without waits are left out.
    pub ranges: Vec<LatencyRange>,
}

/// Percentiles, us.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TracePercentiles {
    /// Median.
    pub p50: Option<u64>,
    /// 95th percentile.
    pub p95: Option<u64>,
    /// 99th percentile.
    pub p99: Option<u64>,
    /// 99.9th percentile.
    #[serde(rename = "p99.9")]
    pub p999: Option<u64>,
}

/// Waits with a latency in a range.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LatencyRange {
    /// From this latency, us.
    pub from_us: u64,
    /// To below this latency, us.
    pub to_us: u64,
    /// Number of waits.
    pub waits: u64,
    /// Their time, us.
    pub time_us: u64,
    /// The shortest, us.
    pub min_us: u64,
    /// The longest, us.
    pub max_us: u64,
}
