//! A database against raw reads of the same blocks, and its commits against bare durable writes on the same file system.

use serde::{Deserialize, Serialize};

/// The levels from raw reads up to a database.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ContrastSummary {
    /// All work on one core; null on a server that mindful did not start: its processes are not moved.
    pub pinned: Option<Vec<LevelSummary>>,
    /// Work on all cores.
    pub all_cores: Vec<LevelSummary>,
    /// Database IOPS by raw IOPS, physical reads, all cores, equal concurrency.
    pub eta: Option<f64>,
    /// Where the ratio of database to raw lies with a confidence of 95 %, by its value in each round; null with one round, which has no interval.
    pub eta_interval: Option<[f64; 2]>,
    /// Time per block that the database adds for a session at equal concurrency, us.
    pub added_us_per_block: Option<f64>,
    /// Parts of that time; null if the database does not time its reads, and if the interval of the ratio contains 1.
    pub added: Option<AddedTime>,
}

impl ContrastSummary {
    /// Whether the rounds distinguish the database from raw reads; `None` with one round, which has no interval.
    pub fn differs(&self) -> Option<bool> {
        self.eta_interval.map(|[low, high]| !(low..=high).contains(&1.0))
    }
}

/// The three parts of the time that a database adds to a block read. They add up to it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct AddedTime {
    /// Difference of a storage read by the database's own clock and the same read raw, us.
    pub storage_us: f64,
    /// CPU of the server beyond that of a raw read, outside of reads, us.
    pub cpu_us: f64,
    /// The rest, in which a session neither reads nor computes, us: it waits for a core, a lock or its turn.
    pub waits_us: f64,
    /// Share of the host's CPU that was busy meanwhile, 0 to 1.
    pub host_busy_share: Option<f64>,
}

/// One way to read the same blocks; medians over the repetitions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelSummary {
    /// Its name.
    #[serde(rename = "rung")]
    pub name: String,
    /// Blocks per second.
    pub iops: f64,
    /// MiB (2^20 bytes) per second.
    pub mib_per_s: f64,
    /// Median, us; null with too few blocks.
    pub p50_us: Option<f64>,
    /// 99th percentile, us; null with too few blocks.
    pub p99_us: Option<f64>,
    /// CPU by blocks, us; null if the server's CPU is unknown.
    pub cpu_us_per_block: Option<f64>,
    /// Blocks by second of CPU; null if the CPU is unknown.
    pub iops_per_core: Option<f64>,
    /// Largest minus smallest rate by the median, 0.05 is 5 %.
    pub spread: f64,
    /// Meaning of the difference to the level before it; null for the first.
    pub means: Option<String>,
}

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
