//! The settings of a sweep, and the objective of a search.

use std::fmt;
use std::time::Duration;

use crate::contract::error::{Error, Result};
use crate::plan::SWEEP_KEYS;
use crate::plan::settings::{Settings, parse_switch};
use crate::plan::units;
use crate::result::{OpSummary, OpsSummary};

#[derive(Debug, Clone, PartialEq)]
pub struct SweepPlan {
    pub repeat: u32,
    /// First values together, then second ones, instead of the full grid.
    pub paired: bool,
    pub budget: Option<Duration>,
    pub objective: Option<Objective>,
}

impl SweepPlan {
    pub fn from_settings(s: &Settings) -> Result<Self> {
        s.check_bounds(SWEEP_KEYS)?;
        let repeat = |text: &str| units::parse_count(text).map(|n| u32::try_from(n).unwrap_or(u32::MAX));
        Ok(Self {
            repeat: s.require("repeat", repeat)?,
            paired: s.require("paired", parse_switch)?,
            budget: s.parse("budget", units::parse_duration)?,
            objective: s.parse("max_iops_at", Objective::parse)?,
        })
    }
}

/// A latency that a share of all operations must not exceed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Objective {
    /// Which percentile: 50, 95, 99 or 99.9.
    pub percentile: f64,
    pub limit_us: f64,
    /// The unit of the text, and its length in us.
    unit: (&'static str, f64),
}

const UNITS: [(&str, f64); 4] = [("us", 1.0), ("ms", 1e3), ("s", 1e6), ("min", 6e7)];

impl Objective {
    /// From text such as `p99<=1ms`.
    pub fn parse(text: &str) -> Result<Self> {
        let bad = || {
            Error::plan(format!("`{text}` is not an objective"), "write p50, p95, p99 or p99.9 and a time: 'p99<=1ms'")
        };
        let (percentile, limit) = text.split_once("<=").or_else(|| text.split_once('<')).ok_or_else(bad)?;
        let percentile = match percentile.trim() {
            "p50" => 50.0,
            "p95" => 95.0,
            "p99" => 99.0,
            "p99.9" | "p999" => 99.9,
            _ => return Err(bad()),
        };
        let given = limit.trim();
        let limit = units::parse_duration(given).map_err(|_| bad())?;
        let number = given.trim_end_matches(char::is_alphabetic);
        let unit = UNITS.into_iter().find(|(name, _)| given[number.len()..] == **name).unwrap_or(UNITS[2]);
        if limit.is_zero() { Err(bad()) } else { Ok(Self { percentile, limit_us: limit.as_secs_f64() * 1e6, unit }) }
    }

    /// The objective's percentile in `op`, us; `None` with too few operations.
    pub fn figure(&self, op: &OpSummary) -> Option<f64> {
        match self.percentile {
            p if p < 60.0 => op.p50_us,
            p if p < 97.0 => op.p95_us,
            p if p < 99.5 => op.p99_us,
            _ => op.p999_us,
        }
    }

    /// Operations that the percentile requires: ten are beyond it.
    pub fn min_ops(&self) -> u64 {
        (1_000.0 / (100.0 - self.percentile)).round() as u64
    }

    /// Whether the main operations of a step meet it; `None` with too few of them. A step that did not keep its rate
    /// has no percentile, for any number of operations: that is a miss.
    pub fn is_met_by(&self, ops: &OpsSummary) -> Option<bool> {
        let op = ops.main()?;
        let enough = op.count >= self.min_ops();
        self.figure(op).map(|us| us <= self.limit_us).or(enough.then_some(false))
    }
}

/// As it is written: `p99<=1ms`.
impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (unit, us) = self.unit;
        // A duration has whole nanoseconds.
        let limit = (self.limit_us / us * 1e9).round() / 1e9;
        write!(f, "p{}<={limit}{unit}", self.percentile)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_objective_is_a_percentile_and_a_time() {
        let objective = Objective::parse("p99<=1ms").unwrap();
        assert!((objective.percentile - 99.0).abs() < 1e-9 && (objective.limit_us - 1_000.0).abs() < 1e-9);
        for text in ["p99<=1ms", "p99<=200us", "p99.9<=0.2ms", "p50<=5000us", "p95<=1.5s"] {
            assert_eq!(Objective::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(
            ["p50<=1s", "p99<=1s", "p99.9<=1s"].map(|o| Objective::parse(o).unwrap().min_ops()),
            [20, 1_000, 10_000]
        );
        for bad in ["p98<=1ms", "p99", "p99<=1", "99<=1ms", "p99<=0ms"] {
            assert!(Objective::parse(bad).is_err(), "{bad}");
        }
    }
}
