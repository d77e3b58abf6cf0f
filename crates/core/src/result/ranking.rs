//! The summary of several sides in one order, as `compare --format json` prints it.

use serde::{Deserialize, Serialize};

use super::comparison::{Basis, ComparedRun, GateSummary, MachineSpread, NamedFact};
use super::finding::Validity;
use crate::plan::price::Price;

/// Several sides in one order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankingSummary {
    /// Format number.
    pub format: u32,
    /// Criterion of the order: `reads`, `reads at p99<=5ms`, `price`, `p99`.
    pub by: String,
    /// Unit of that figure.
    pub unit: String,
    /// Whether more of it is better.
    pub higher_is_better: bool,
    /// Differences up to this share do not matter.
    pub margin: f64,
    /// The result in sentences.
    pub sentences: Vec<String>,
    /// Sides that measured the same, with the ranks among them.
    pub groups: Vec<RankedGroup>,
    /// The gate of `--fail-if`, which judges the last side; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateSummary>,
}

/// Sides that measured the same.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankedGroup {
    /// Workload of all sides: engine, mix, work unit, active set.
    pub measured: Vec<NamedFact>,
    /// The sides, best first; sides without a rank last.
    pub sides: Vec<RankedSide>,
    /// Pairs of sides that the order of their runs leaves open, and why.
    pub doubts: Vec<String>,
    /// Relative standard deviation between runs, pooled over the sides; null without a side of several runs.
    pub variation: Option<f64>,
    /// Runs a side that show a difference among so many sides in four of five cases; empty without a variation.
    pub runs_to_see: Vec<RunsToSee>,
}

/// Runs a side that show a difference.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RunsToSee {
    /// The difference, a share.
    pub difference: f64,
    /// Runs a side; null where no practical number is enough.
    pub runs: Option<u32>,
}

/// One side.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankedSide {
    /// Its name: a tag, a run, a file or a folder.
    pub name: String,
    /// Highest and lowest rank that it may have; null without a rank.
    pub rank: Option<[u32; 2]>,
    /// Why it has no rank; null with one.
    pub no_rank: Option<String>,
    /// Median of its runs; null where they do not have the figure.
    pub value: Option<f64>,
    /// `[low, high]` of it, 95 %; null with one run and no noise floor.
    pub interval: Option<[f64; 2]>,
    /// The figure by the best side's: median ratio over all pairs of runs.
    pub by_best: Option<f64>,
    /// `[low, high]` of that ratio, 95 % for all pairs of sides together; null for the best, and where nothing bounds it.
    pub by_best_interval: Option<[f64; 2]>,
    /// Basis of the ratio's interval; null for the best.
    pub basis: Option<Basis>,
    /// The worst of its runs.
    pub validity: Validity,
    /// Its runs.
    pub runs: Vec<ComparedRun>,
    /// How its machines differ; null with one.
    pub machines: Option<MachineSpread>,
    /// Reads per second where the figure was measured, the median of its runs.
    pub reads_per_s: Option<f64>,
    /// Its price; null without one, and where its runs have several.
    pub price: Option<Price>,
    /// Price of a month of 730 hours.
    pub per_month: Option<f64>,
    /// Price of a million reads.
    pub per_million_reads: Option<f64>,
    /// Whether no cheaper side has a better figure; null without a price.
    pub efficient: Option<bool>,
    /// Place of the measurement, by name: machine, zone, devices, version and more; `not stated` if unknown.
    pub place: Vec<NamedFact>,
    /// Facts and settings in which the sides of the group differ, with the value of this side.
    pub differs: Vec<NamedFact>,
}
