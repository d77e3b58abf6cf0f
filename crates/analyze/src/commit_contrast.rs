//! Commits of a database compared with bare durable writes: the measured ways, and their results.
//!
//! The bare ways are those of `pg_test_fsync`: one block of a prewritten file, again and again. Each round measures all
//! ways in turn, and every second round backwards, so that drift affects all of them equally.

use std::collections::BTreeMap;

use mindful_core::record::run::StepHead;
use mindful_core::result::{CommitContrastSummary, CommitRow, StepSummary};
use mindful_core::stored_names;

use crate::contrast::{back_and_forth, eta_interval};
use crate::stats::moment::{median, median_and_spread};

/// Key of [`mindful_core::record::run::Point::values`] that names the way of a step.
pub const WAY: &str = "way";
/// Key of its sessions or writes in flight.
pub const LOAD: &str = "in flight";

stored_names! {
    /// One way to make a write durable.
    pub enum Way {
        /// A buffered write, then `fdatasync`.
        Sync = "bare, fdatasync",
        /// A buffered write with O_DSYNC.
        Forced = "bare, O_DSYNC",
        /// A write with O_DSYNC and O_DIRECT, `open_datasync` of `pg_test_fsync`.
        ForcedDirect = "bare, O_DSYNC and O_DIRECT",
        /// A write at the end of a growing file, then `fdatasync`.
        Append = "bare, append and fdatasync",
        /// As [`Way::Sync`], several in flight.
        InFlight = "raw, fdatasync",
        Database = "database",
    }
}

impl Way {
    /// Whether it is measured at one load only.
    const fn is_bare(self) -> bool {
        !matches!(self, Self::InFlight | Self::Database)
    }
}

/// A measurement to be made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Turn {
    /// From 0.
    pub round: u32,
    pub way: Way,
    /// Sessions of the database, or writes in flight.
    pub load: u32,
}

/// All measurements of `rounds` of `ways`, up to `most` sessions.
pub fn turns(ways: &[Way], most: u32, rounds: u32) -> Vec<Turn> {
    back_and_forth(rounds, |round| {
        let of_way = |way: &Way| {
            let (way, loads) = (*way, if way.is_bare() { vec![1] } else { loads(most) });
            loads.into_iter().map(move |load| Turn { round, way, load })
        };
        ways.iter().flat_map(of_way).collect()
    })
}

/// 1, 2, 4, … and `most`.
fn loads(most: u32) -> Vec<u32> {
    let doubled = std::iter::successors(Some(1_u32), |load| load.checked_mul(2)).take_while(|load| *load < most);
    doubled.chain([most.max(1)]).collect()
}

/// Whether a step measures bare writes among commits of a database.
pub(crate) fn is_of_files(step: &StepHead) -> bool {
    step.point.values.get(WAY).is_some_and(|way| way != Way::Database.name())
}

/// A round's number and its step.
type Round<'a> = (u32, &'a StepSummary);

/// The contrast of commits in `steps`; `None` if they do not form one.
pub(crate) fn commit_contrast(steps: &[StepSummary]) -> Option<CommitContrastSummary> {
    let mut by_row: BTreeMap<(Way, u32), Vec<Round>> = BTreeMap::new();
    for step in steps {
        let value = |key: &str| step.point.values.get(key);
        let (Some(way), Some(load)) = (value(WAY), value(LOAD)) else { continue };
        if let (Ok(way), Ok(load), Some(_)) = (Way::parse(way), load.parse(), commits_per_s(step)) {
            by_row.entry((way, load)).or_default().push((step.point.pass, step));
        }
    }
    if by_row.is_empty() {
        return None;
    }
    let rows = by_row.iter().filter_map(|((way, load), rounds)| row(*way, *load, rounds)).collect();
    let rate = |way: Way, pass: u32| {
        let (_, step) = by_row.get(&(way, 1))?.iter().find(|(known, _)| *known == pass)?;
        commits_per_s(step)
    };
    let passes = steps.iter().map(|step| step.point.pass).max().map_or(0..0, |last| 0..last + 1);
    let ratios: Vec<f64> =
        passes.filter_map(|pass| Some(rate(Way::Database, pass)? / rate(Way::Sync, pass)?)).collect();
    Some(CommitContrastSummary { rows, ratio: median(&ratios), ratio_interval: eta_interval(&ratios) })
}

/// Updates that are a commit each.
fn commits_per_s(step: &StepSummary) -> Option<f64> {
    step.ops.update.as_ref().map(|op| op.per_s).filter(|rate| *rate > 0.0)
}

fn row(way: Way, load: u32, rounds: &[Round]) -> Option<CommitRow> {
    let middle = |figure: &dyn Fn(&StepSummary) -> Option<f64>| {
        median(&rounds.iter().filter_map(|(_, step)| figure(step)).collect::<Vec<_>>())
    };
    let rates: Vec<f64> = rounds.iter().filter_map(|(_, step)| commits_per_s(step)).collect();
    let (commits_per_s, spread) = median_and_spread(&rates)?;
    Some(CommitRow {
        name: way.name().to_owned(),
        sessions: load,
        commits_per_s,
        p50_us: middle(&|step| step.ops.update.as_ref()?.p50_us),
        p99_us: middle(&|step| step.ops.update.as_ref()?.p99_us),
        commits_per_sync: middle(&|step| step.log.commits_per_sync),
        spread,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bare_methods_have_one_load_and_the_database_a_ladder() {
        let turns = turns(&Way::ALL, 6, 2);
        let of = |way: Way| turns.iter().filter(|turn| turn.way == way).map(|turn| turn.load).collect::<Vec<_>>();
        assert_eq!(of(Way::Database), [1, 2, 4, 6, 6, 4, 2, 1]);
        assert_eq!((of(Way::Sync), of(Way::Append)), (vec![1, 1], vec![1, 1]));
        assert_eq!(loads(1), [1]);
    }
}
