//! The order of the runs of two sides, and the doubt that it leaves.
//!
//! Alternating runs share every drift. If all runs of one side came first, a drift or a disturbance within a side looks
//! the same as a difference between the sides.

use std::collections::BTreeSet;

use mindful_core::record::run::Run;
use mindful_core::result::Severity;

use crate::analysis::Analysis;
use crate::judgement::headline::percent;
use crate::stats::moment::mean;
use crate::stats::series::{mann_kendall, theil_sen};

/// Largest p of a trend over the runs of a side. Four runs in rising or falling order have 0.089.
const TREND_P: f64 = 0.09;
/// Fewest runs for which an order can have such a p; fewer must also move by more than the margin.
const TREND_RUNS: usize = 4;

/// Time of a run, and its disturbances.
#[derive(Debug, Clone)]
pub(super) struct Moment {
    id: String,
    began: Option<String>,
    warnings: BTreeSet<String>,
}

impl Moment {
    pub(super) fn from_run(run: &Run, analysis: &Analysis) -> Self {
        let findings = analysis.summary.findings.iter().filter(|finding| finding.severity > Severity::Info);
        Self {
            id: run.head.id.clone(),
            began: Some(run.head.started_at.clone()).filter(|at| at.ends_with('Z')),
            warnings: findings.map(|finding| finding.code.clone()).collect(),
        }
    }
}

#[derive(Debug)]
pub(super) struct Sequence<'a> {
    sides: [Vec<&'a Moment>; 2],
    names: [&'a str; 2],
    first: usize,
}

impl<'a> Sequence<'a> {
    /// `None` if the runs alternate, or their times are unknown.
    pub(super) fn from_sides(sides: [Vec<&'a Moment>; 2], names: [&'a str; 2]) -> Option<Self> {
        let [a, b] = [span(&sides[0])?, span(&sides[1])?];
        let first = if a.1 < b.0 {
            0
        } else if b.1 < a.0 {
            1
        } else {
            return None;
        };
        Some(Self { sides, names, first })
    }

    /// The order in words; `None` with a single run each, which has no other order.
    pub(super) fn in_words(&self) -> Option<String> {
        let several = self.sides.iter().any(|side| side.len() > 1);
        several.then(|| {
            let (first, then) = (self.names[self.first], self.names[1 - self.first]);
            format!(
                "all runs of the {first} came before those of the {then}, so a drift of the platform looks like a \
                 difference; `mindful compare --run` alternates"
            )
        })
    }

    /// Why a difference between `values`, the figures of both sides in the order of their runs, may be one of time.
    pub(super) fn doubt(&self, values: [&[f64]; 2], margin: f64) -> Option<String> {
        let trend = |(side, name): (usize, &str)| {
            let change = trend(&in_time(&self.sides[side], values[side]), margin)?;
            Some(format!("the runs of the {name} moved by {} from the first to the last", percent(change)))
        };
        self.names.into_iter().enumerate().find_map(trend).or_else(|| self.disturbed())
    }

    fn disturbed(&self) -> Option<String> {
        let runs = || self.sides.iter().flatten();
        let shared = runs().map(|run| run.warnings.clone()).reduce(|all, these| &all & &these)?;
        runs().find_map(|run| {
            let code = run.warnings.difference(&shared).next()?;
            Some(format!("run {} was disturbed ({code}), and others were not", run.id))
        })
    }
}

fn span<'a>(side: &[&'a Moment]) -> Option<(&'a str, &'a str)> {
    let began = side.iter().map(|run| run.began.as_deref()).collect::<Option<Vec<_>>>()?;
    Some((began.iter().min()?, began.iter().max()?))
}

/// The figures of a side in order of time; steps of one run stay together.
fn in_time(side: &[&Moment], values: &[f64]) -> Vec<f64> {
    if values.len() != side.len() {
        return Vec::new();
    }
    let mut timed: Vec<_> = side.iter().map(|run| run.began.as_deref()).zip(values).collect();
    timed.sort_by_key(|(began, _)| *began);
    timed.into_iter().map(|(_, value)| *value).collect()
}

/// The change over runs that rise or fall, a share.
fn trend(values: &[f64], margin: f64) -> Option<f64> {
    let change = theil_sen(values) * values.len().saturating_sub(1) as f64 / mean(values)?;
    let in_order =
        |rises: bool| values.windows(2).all(|pair| if rises { pair[1] > pair[0] } else { pair[1] < pair[0] });
    let moved = if values.len() < TREND_RUNS {
        values.len() > 2 && change.abs() > margin && (in_order(true) || in_order(false))
    } else {
        change.abs() > margin / 2.0 && mann_kendall(values) < TREND_P
    };
    moved.then_some(change)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_that_only_rise_or_fall_are_a_trend_but_noise_is_not() {
        let moved = |values: &[f64]| trend(values, 0.03);
        assert!(moved(&[100.0, 101.0, 103.0, 104.0]).is_some_and(|change| change > 0.03));
        assert!(moved(&[110.0, 105.0, 100.0]).is_some_and(|change| change < -0.05));
        assert_eq!(moved(&[100.0, 103.0, 99.0, 102.0, 101.0]), None);
        assert_eq!(moved(&[100.0, 100.2, 100.4, 100.6]), None, "too small to matter");
        assert_eq!(moved(&[100.0, 120.0]), None);
    }
}
