//! The summary of a run: stable names, units in the names, `null` where a figure is not known.

pub mod comparison;
mod contrast;
pub mod figure;
pub mod finding;
mod part;
pub mod ranking;
mod step;
mod sweep;
mod system;
pub mod trace;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::contrast::{AddedTime, CommitContrastSummary, CommitRow, ContrastSummary, LevelSummary};
pub use self::part::{BySession, ChoicesSummary, ObservedMetric, ObservedSource, RankSummary};
pub use self::step::{OpSummary, OpsSummary, PerPrice, StepSummary, TargetSummary};
pub use self::sweep::{CurveSummary, KneeFigure, KneeSummary, ObjectiveSummary};
pub use self::system::{CapSummary, CpuSummary, DeviceSummary, LogSummary, WaitSummary};
use crate::plan::price::Price;
pub use crate::result::finding::{Finding, Severity, Validity};

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
    /// Whether it ended without being stopped.
    pub finished: bool,
    /// Version, commit, profile and features of the mindful that measured; absent where the run did not store it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mindful_build: Option<String>,
    /// Name of the engine.
    pub engine: String,
    /// Version of the system under test.
    pub engine_version: Option<String>,
    /// Notice for every report and export, such as a demand of a licence; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub notice: Option<String>,
    /// Target without secrets.
    pub target: String,
    /// Name given by the user.
    pub tag: Option<String>,
    /// Path of the plan file that was read without being named; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plan_file: Option<String>,
    /// Description of the host.
    pub hardware: Hardware,
    /// Settings of the target that affect results, by its own names; empty if unknown.
    pub target_settings: BTreeMap<String, String>,
    /// Price of an hour, from the plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub price: Option<Price>,
    /// Seed of everything random.
    pub seed: u64,
    /// Whether the result may be quoted.
    pub validity: Validity,
    /// Findings: doubts and remarks.
    pub findings: Vec<Finding>,
    /// The dataset.
    pub dataset: Option<DatasetSummary>,
    /// One entry a step.
    pub steps: Vec<StepSummary>,
    /// Where more sessions stop helping; only of a sweep over sessions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub knee: Option<KneeSummary>,
    /// The knees of a sweep that varies more than sessions, one for each ladder of sessions; then `knee` is null.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curves: Vec<CurveSummary>,
    /// Mindless against mindful I/O; only of a contrast.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub contrast: Option<ContrastSummary>,
    /// Commits of the database against bare durable writes; only of a contrast of commits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub commits: Option<CommitContrastSummary>,
    /// The best of a job on files; only of `mindful raw` with more than one plain step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub io_job: Option<IoJobSummary>,
    /// The highest load that met an objective; only of `sweep --max-iops-at`, and null if no load met it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub objective: Option<ObjectiveSummary>,
}

impl Summary {
    /// Whether its steps are ways to do the same work, and not one system under several loads.
    pub fn is_contrast(&self) -> bool {
        self.contrast.is_some() || self.commits.is_some()
    }
}

/// The host of a run; null if not known.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Hardware {
    /// CPUs that the kernel runs on.
    pub cpus: Option<u64>,
    /// The processor's own model name.
    pub cpu_model: Option<String>,
    /// Memory, bytes.
    pub memory_bytes: Option<u64>,
    /// The device that holds the data, with the devices below it.
    pub storage_device: Option<String>,
    /// Its file system.
    pub filesystem: Option<String>,
    /// The device that holds the log, with the devices below it.
    pub log_device: Option<String>,
    /// Release of the kernel.
    pub kernel: Option<String>,
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
