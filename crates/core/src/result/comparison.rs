//! The summary of a comparison and of a history of runs, as `compare --format json` prints them. Ratios are candidate by
//! baseline.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::finding::Validity;
use crate::plan::price::Price;

/// One value of each side.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BothSides<T> {
    /// Of the baseline.
    pub baseline: T,
    /// Of the candidate.
    pub candidate: T,
}

/// Two groups of runs compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparisonSummary {
    /// Format number.
    pub format: u32,
    /// Names of the sides: plan files, tags or runs.
    pub names: BothSides<String>,
    /// The verdict on runs of one step; absent where `points` has several.
    #[serde(flatten)]
    pub single: Option<VerdictSummary>,
    /// The verdict at each point that both sweeps have; absent for runs of one step.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub points: Vec<PointVerdict>,
    /// The runs of each side.
    pub runs: BothSides<Vec<ComparedRun>>,
    /// How the machines of each side differ; null where a side has one.
    pub machines: BothSides<Option<MachineSpread>>,
    /// A remark if all runs of one side preceded those of the other; null if they alternate.
    #[serde(default)]
    pub order: Option<String>,
    /// Where each side was measured, by name: machine, zone, devices, version and more; `not stated` where that is not known.
    pub place: BothSides<Vec<NamedFact>>,
    /// Facts that differ between the sides: first those that affect figures, then target, version, data directory and
    /// host.
    pub differing_facts: Vec<Difference>,
    /// Settings that differ between the sides but cannot affect the measured access path.
    pub idle_settings: Vec<String>,
    /// Price of an hour of the baseline and of the candidate; null if a side has none, and for figures that are not
    /// rates.
    pub prices: Option<[Price; 2]>,
    /// Work for the same money; absent without prices, and for sweeps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_the_money: Option<PriceRatio>,
    /// Percentiles of latency, by kind of operation and point.
    pub latency: Vec<KindShifts>,
    /// Whole curves over sessions, where both sides have one.
    pub curves: Vec<CurveRatios>,
    /// The gate of `--fail-if`; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub gate: Option<GateSummary>,
}

/// The verdict on one figure of both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VerdictSummary {
    /// The verdict.
    pub verdict: Verdict,
    /// Median of the runs of each side.
    pub medians: Medians,
    /// Median ratio over all pairs of runs.
    pub ratio: f64,
    /// `[low, high]` of it, 95 %; null where nothing at hand bounds it.
    pub interval: Option<[f64; 2]>,
    /// Differences up to this share do not matter.
    pub margin: f64,
    /// Runs of the baseline.
    pub runs_baseline: u32,
    /// Runs of the candidate.
    pub runs_candidate: u32,
    /// Runs a side that would decide, in all; machines where they are the basis; null when decided, and when no sensible
    /// number of them would.
    pub runs_needed: Option<u32>,
    /// Basis of the interval.
    pub basis: Basis,
    /// Why the order of the runs makes the difference undecidable; null if it does not.
    #[serde(default)]
    pub doubt: Option<String>,
    /// `[low, high]` of the ratio by bootstrap (BCa); null with a single run on a side.
    pub bootstrap_interval: Option<[f64; 2]>,
    /// Cliff's delta: -1 when all candidate runs are below all baseline runs, +1 when all are above.
    pub cliffs_delta: f64,
}

/// The verdict at one point of two sweeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PointVerdict {
    /// Sessions, or the number of the point where the sweep varies something else.
    pub load: f64,
    /// p of a difference beyond the margin, adjusted for the number of points (Holm).
    pub p_adjusted: Option<f64>,
    /// The verdict.
    #[serde(flatten)]
    pub verdict: VerdictSummary,
}

/// Medians of both sides.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Medians {
    /// Of the baseline.
    pub baseline: f64,
    /// Of the candidate.
    pub candidate: f64,
    /// Their unit: `blocks/s`, `us p99`.
    pub unit: String,
}

/// Whether the candidate is faster.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// The candidate is faster by more than the margin.
    Faster,
    /// The candidate is slower by more than the margin.
    Slower,
    /// The difference is within the margin.
    NoMeaningfulDifference,
    /// The runs at hand do not decide.
    NotDecided,
}

/// Basis of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// Several runs a side: the interval contains the variation between runs.
    Runs,
    /// Several machines on a side: the interval contains the variation between machines of one type.
    Machines,
    /// A single run on a side, widened by the platform's noise floor.
    NoiseFloor,
    /// A single run on a side and no noise floor: only the variation within the run.
    WithinRun,
}

/// How the machines of a side differ, as relative standard deviations.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MachineSpread {
    /// Machines of the side.
    pub machines: u32,
    /// Between runs of one machine; null with one run on each.
    pub within: Option<f64>,
    /// Between machines, without the variation of their runs.
    pub between: f64,
    /// The machine that differs from the others; null if none does.
    pub outlier: Option<OutlyingMachine>,
}

/// A machine that is unlike the others of its side.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OutlyingMachine {
    /// Its name.
    pub machine: String,
    /// Its figure by the median of the others.
    pub by_others: f64,
}

/// A range and its confidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interval {
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
    /// Probability that such an interval contains the true value, 0 to 1.
    pub confidence: f64,
}

impl Interval {
    /// The interval with `f` applied to both ends.
    #[must_use]
    pub fn map(self, f: impl Fn(f64) -> f64) -> Self {
        Self { low: f(self.low), high: f(self.high), confidence: self.confidence }
    }
}

/// Whether a compared run may be quoted, and its findings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ComparedRun {
    /// Its id.
    pub id: String,
    /// Whether it may be quoted.
    pub validity: Validity,
    /// The compared figure of a run of one step; absent for sweeps and histories.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<f64>,
    /// Codes of the findings that make it suspect or invalid, each once.
    pub because: Vec<String>,
    /// Path of the plan file that was found automatically; absent without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plan_file: Option<String>,
}

/// A fact and its value.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedFact {
    /// Name.
    pub name: String,
    /// Value; several of one side are separated by ` / `.
    pub value: String,
}

/// A fact in which two groups of runs differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Difference {
    /// Its name: `block size`, `database cache`.
    pub fact: String,
    /// Of the baseline; several values where its runs differ from each other.
    pub baseline: Vec<String>,
    /// Of the candidate.
    pub candidate: Vec<String>,
}

impl Difference {
    /// Both sides in words: `8192 against 16384`.
    pub fn sides(&self) -> String {
        let side = |values: &[String]| if values.is_empty() { "not known".to_owned() } else { values.join(" / ") };
        format!("{} against {}", side(&self.baseline), side(&self.candidate))
    }
}

/// Work per unit of the currency, candidate by baseline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PriceRatio {
    /// The ratio.
    pub ratio: f64,
    /// `[low, high]` of it, 95 %.
    pub interval: Option<[f64; 2]>,
}

/// Percentiles of one kind of operation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KindShifts {
    /// The point of a sweep; empty for plain runs.
    pub at: BTreeMap<String, String>,
    /// `select`, `update` or `scan`.
    pub kind: String,
    /// Each percentile that both sides have.
    pub shifts: Vec<PercentileShift>,
}

/// One percentile of both sides.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PercentileShift {
    /// Which: 50, 95, 99 or 99.9.
    pub percentile: f64,
    /// Of the baseline, us: the median of its runs.
    pub baseline_us: f64,
    /// Of the candidate, us.
    pub candidate_us: f64,
    /// Median ratio over all pairs of runs; above 1 the candidate takes longer.
    pub ratio: f64,
    /// Where the true ratio lies; null with too few operations.
    pub interval: Option<Interval>,
    /// Basis of the interval: runs, or the operations of a single run.
    pub basis: Basis,
}

/// Two curves over sessions compared.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CurveRatios {
    /// The other keys of the sweep and their values.
    pub at: BTreeMap<String, String>,
    /// The differences.
    pub ratios: CurveComparison,
}

/// Differences between two fitted curves. The intervals contain the scatter of the points around the curves, not the
/// variation between sweeps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CurveComparison {
    /// Highest throughput within the loads that both sweeps have.
    pub capacity: CurveRatio,
    /// Latency of a single session.
    pub zero_load: CurveRatio,
    /// Sessions at the knee; null if one of the curves has no knee.
    pub asymptote: Option<CurveRatio>,
    /// Mean throughput over all loads that both sweeps have; each doubling has the same weight.
    pub area: CurveRatio,
}

/// Ratio of one figure of two fitted curves.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CurveRatio {
    /// The ratio.
    pub ratio: f64,
    /// Interval by residual bootstrap of both curves; null with too few resamples.
    pub interval: Option<Interval>,
}

/// The gate of a comparison.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GateSummary {
    /// The condition: `slower>5%`.
    pub fail_if: String,
    /// Its outcome.
    pub outcome: GateOutcome,
    /// Whether `compare` exits with code 4.
    pub failed: bool,
}

/// The outcome of a gate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum GateOutcome {
    /// Nothing crossed it.
    Passed,
    /// Something crossed it.
    Crossed,
    /// The runs do not decide.
    Undecided,
}

/// A series of runs and the changes of its level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HistorySummary {
    /// Format number.
    pub format: u32,
    /// The runs, oldest first.
    pub runs: Vec<ComparedRun>,
    /// The compared figure of each run.
    pub values: Vec<f64>,
    /// The changes, oldest first.
    pub changes: Vec<LevelChange>,
    /// The last level by the first; 1 without a change.
    pub last_by_first: f64,
}

/// A change of level between two runs.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LevelChange {
    /// Index of the first run of the new level, from 0.
    pub at: usize,
    /// Geometric mean of the level before.
    pub before: f64,
    /// Geometric mean of the level after.
    pub after: f64,
    /// p of "no change", by permutation.
    pub p: f64,
}
