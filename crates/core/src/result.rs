//! The summary of a run: stable names, units in the names, `null` where a figure is not known.

pub mod comparison;
pub mod figure;
pub mod finding;
mod part;
mod step;
mod system;
pub mod trace;
mod validity;

use serde::{Deserialize, Serialize};

pub use self::part::{BySession, ChoicesSummary, RankSummary};
pub use self::step::{OpSummary, OpsSummary, PerPrice, StepSummary, TargetSummary};
pub use self::system::{CapSummary, CpuSummary, DeviceSummary, WaitSummary};
pub use self::validity::Validity;
use crate::plan::price::Price;
pub use crate::result::finding::{Finding, Severity};

/// A run in figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Summary {
    /// Format number.
    pub format: u32,
    /// Id of the run.
    pub id: String,
    /// When it began, RFC 3339.
    pub started_at: String,
    /// Whether it ended by itself.
    pub finished: bool,
    /// Version, commit, profile and features of the mindful that measured; absent where the run did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mindful_build: Option<String>,
    /// Name of the engine.
    pub engine: String,
    /// Version of the system under test.
    pub engine_version: Option<String>,
    /// What every report and export of its figures has to say, such as what its licence asks; absent where there is nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// Target without secrets.
    pub target: String,
    /// Name given by the user.
    pub tag: Option<String>,
    /// Path of the plan file that was read without being named; absent where there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_file: Option<String>,
    /// What the host is.
    #[serde(default)]
    pub hardware: Hardware,
    /// Settings of the target that matter, by its own names; empty where they are not known.
    #[serde(default)]
    pub target_settings: std::collections::BTreeMap<String, String>,
    /// What an hour cost, as the plan has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Seed of everything random.
    pub seed: u64,
    /// Whether the result may be quoted.
    pub validity: Validity,
    /// What speaks against it, or is good to know.
    pub findings: Vec<Finding>,
    /// The dataset.
    pub dataset: Option<DatasetSummary>,
    /// One entry a step.
    pub steps: Vec<StepSummary>,
    /// Where more sessions stop helping; only of a sweep over sessions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub knee: Option<KneeSummary>,
    /// The knees of a sweep that varies more than sessions, one for each ladder of sessions; then `knee` is null.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<CurveSummary>,
    /// Mindless against mindful I/O; only of a contrast.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contrast: Option<ContrastSummary>,
    /// The best of a job on files; only of `mindful raw` with more than one plain step.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub io_job: Option<IoJobSummary>,
    /// The highest load that met an objective; only of `sweep --max-iops-at`, and null there where none did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub objective: Option<ObjectiveSummary>,
}

/// The highest load that met an objective for its full length, and how well its figures are known.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ObjectiveSummary {
    /// The objective: `p99<=1ms`.
    pub objective: String,
    /// What was searched: `sessions`, or `rate` in operations per second.
    pub key: String,
    /// The load.
    pub load: f64,
    /// Number of the step that tells the figures, from 1.
    pub step: u32,
    /// Blocks visited per second there.
    pub blocks_visited_per_s: Option<f64>,
    /// `[low, high]` of it, 95 %, by how its seconds differ; null below ten of them.
    pub blocks_visited_per_s_interval: Option<[f64; 2]>,
    /// The percentile of the objective there, us.
    pub latency_us: Option<f64>,
    /// `[low, high]` of it, 95 %, by how many operations of each second lie beyond it; null below ten seconds, and where
    /// fewer than ten operations lie beyond the upper end.
    pub latency_us_interval: Option<[f64; 2]>,
}

/// The host of a run; null where it is not known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hardware {
    /// CPUs that the kernel runs on.
    pub cpus: Option<u64>,
    /// What the processor calls itself.
    pub cpu_model: Option<String>,
    /// Memory, bytes.
    pub memory_bytes: Option<u64>,
    /// The device that holds the data, with those it stands on.
    pub storage_device: Option<String>,
    /// Its file system.
    pub filesystem: Option<String>,
    /// Release of the kernel.
    pub kernel: Option<String>,
}

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

/// A best figure and where it was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IoBest {
    /// The figure, in the unit that its name tells.
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

/// The rungs from raw reads nobody looks at up to a database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContrastSummary {
    /// All work on one core; null on a server that mindful did not start, whose processes are left where they run.
    pub pinned: Option<Vec<LevelSummary>>,
    /// Work on all cores.
    pub all_cores: Vec<LevelSummary>,
    /// Database IOPS by raw IOPS, physical reads, all cores, equal concurrency.
    pub eta: Option<f64>,
    /// Where eta lies with a confidence of 95 %, by its value in each round; null with one round, which has no interval.
    #[serde(default)]
    pub eta_interval: Option<[f64; 2]>,
    /// What the database adds to the time a session needs for a block, at equal concurrency, us.
    pub added_us_per_block: Option<f64>,
    /// What took that time; null where the database does not time its reads.
    #[serde(default)]
    pub added: Option<AddedTime>,
}

/// What the time that a database adds to a block read consists of; the three times add up to it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AddedTime {
    /// How much longer a read from storage takes by the database's own clock than the same read raw, us.
    pub storage_us: f64,
    /// CPU of the server beyond that of a raw read, outside of the reads, us.
    pub cpu_us: f64,
    /// The rest, in which a session neither reads nor computes: it waits for a core, a lock or its turn, us.
    pub waits_us: f64,
    /// Share of the host's CPU that was busy meanwhile, 0 to 1.
    pub host_busy_share: Option<f64>,
}

/// One way to read the same blocks; medians over the repetitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelSummary {
    /// Its name.
    pub rung: String,
    /// Blocks per second.
    pub iops: f64,
    /// MiB (2^20 bytes) per second.
    pub mib_per_s: f64,
    /// Median, us; null with too few blocks to know.
    pub p50_us: Option<f64>,
    /// 99th percentile, us; null with too few blocks to know.
    pub p99_us: Option<f64>,
    /// CPU by blocks, us; null where the server's is not seen.
    pub cpu_us_per_block: Option<f64>,
    /// Blocks by second of CPU; null where that is not seen.
    pub iops_per_core: Option<f64>,
    /// Largest minus smallest rate by the median, 0.05 is 5 %.
    pub spread: f64,
    /// What the difference to the rung before it means; null for the first.
    pub means: Option<String>,
}

/// One ladder of sessions among several.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CurveSummary {
    /// The other keys and their values.
    pub values: std::collections::BTreeMap<String, String>,
    /// Its knee.
    pub knee: KneeSummary,
}

/// Names of the figures of [`KneeSummary`] that have an interval.
pub mod knee_sessions {
    /// Of [`super::KneeSummary::asymptote_sessions`].
    pub const ASYMPTOTE: &str = "asymptote_sessions";
    /// Of [`super::KneeSummary::best_power_sessions`].
    pub const BEST_POWER: &str = "best_power_sessions";
    /// Of [`super::KneeSummary::peak_sessions`].
    pub const PEAK: &str = "peak_sessions";
    /// Of [`super::KneeSummary::max_per_s`].
    pub const MAX_PER_S: &str = "max_per_s";
}

/// The knee of a ladder of sessions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
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
    pub intervals: std::collections::BTreeMap<String, [f64; 2]>,
}

/// The dataset in figures.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DatasetSummary {
    /// Schemas loaded.
    pub schemas: u32,
    /// Blocks in each.
    pub blocks_per_schema: u64,
    /// Length of a block.
    pub block_bytes: u64,
    /// Bytes of all tables.
    pub bytes: u64,
    /// Bytes of all indexes.
    pub index_bytes: Option<u64>,
    /// Time the load took, s; null when it was there already.
    pub load_s: Option<f64>,
    /// Largest rank correlation of key and block, in size; null when not proven in this run and no proof is stored.
    pub rank_correlation_max: Option<f64>,
}
