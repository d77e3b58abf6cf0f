//! Commits of a database against bare writes made durable on the same file system.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommitContrastSummary {
    /// In the order of the report: bare writes, writes by the raw engine, the database.
    pub rows: Vec<CommitRow>,
    /// Commits of one session of the database by bare overwrites with `fdatasync`; null without either.
    pub ratio: Option<f64>,
    /// Where the ratio lies with a confidence of 95 %, by its value in each round; null with one round, which has no interval.
    pub ratio_interval: Option<[f64; 2]>,
}

/// One way to make 8 KiB durable at one load; medians over the rounds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CommitRow {
    pub name: String,
    /// Sessions of the database, or writes in flight.
    pub sessions: u32,
    pub commits_per_s: f64,
    /// Median time of a commit, us; null with too few commits.
    pub p50_us: Option<f64>,
    /// 99th percentile, us; null with too few commits.
    pub p99_us: Option<f64>,
    /// Commits that one sync made durable; null where syncs are not counted.
    pub commits_per_sync: Option<f64>,
    /// Largest minus smallest rate by the median, 0.05 is 5 %.
    pub spread: f64,
}
