//! Several sides in one order: groups that measured the same, ranks, prices, and the result in sentences.

mod group;
pub(super) mod rank;
pub(super) mod run;
pub(super) mod table;
mod words;

use mindful_core::result::Validity;
use mindful_core::result::ranking::{RankedGroup, RankedSide, RankingSummary};
use mindful_core::{Error, Result};

use self::group::Group;
use self::run::{NamedSide, RunsOfSide};
use self::words::{differing_keys, groups, measured, measured_first};
use super::answer::{Basis, Verdict};
use super::figure::OrderedBy;
use super::gate::{Gate, GateOutcome};
use super::sides::shared_run;

#[derive(Debug)]
pub struct Ranking {
    pub summary: RankingSummary,
    /// The last side compared with each other one of its group: runs of both, and the verdict.
    pub last: Vec<([usize; 2], Verdict, Basis)>,
}

impl Ranking {
    /// Orders `sides`. Differences up to `margin` (a share) do not matter. INVALID sides have no rank, unless `force`.
    ///
    /// # Errors
    /// No side has the figure.
    pub fn from_sides(sides: &[NamedSide], by: OrderedBy, margin: f64, force: bool) -> Result<Self> {
        refuse_shared(sides)?;
        let judged: Vec<RunsOfSide> = sides.iter().map(|side| RunsOfSide::from_side(side, by)).collect();
        let facts: Vec<_> = judged.iter().map(measured).collect();
        let things: Vec<_> = facts.iter().zip(&judged).map(|(facts, side)| (&**facts, side.validity())).collect();
        let groups = groups(&things, |_, _| true);
        let shown = differing_keys(&groups.iter().map(|(key, _)| key.as_slice()).collect::<Vec<_>>());
        let (mut ranked, mut last, mut sentences) = (Vec::new(), Vec::new(), Vec::new());
        for (measured, members) in groups {
            let members: Vec<&RunsOfSide> = members.iter().map(|at| &judged[*at]).collect();
            let group = Group::from_members(&members, by, margin, force)?;
            last = sides.last().and_then(|side| group.last(&side.name)).unwrap_or(last);
            sentences.extend(words::group_sentence(by, &group));
            ranked.push(RankedGroup { measured: measured_first(measured, &shown), ..group.summary });
        }
        let all: Vec<&RankedSide> = ranked.iter().flat_map(|group| &group.sides).collect();
        if all.iter().all(|side| side.rank.is_none()) {
            return Err(no_rank(by, &all));
        }
        let summary = group::summary(by, margin, sentences, ranked);
        Ok(Self { summary, last })
    }

    /// The outcome of `gate` for the last of `sides`.
    ///
    /// # Errors
    /// It has no rank, nothing to be compared with, or too few runs to ever cross the gate.
    pub fn judge(&self, gate: &Gate, sides: &[NamedSide]) -> Result<GateOutcome> {
        let name = sides.last().map_or("", |side| side.name.as_str());
        if self.last.is_empty() {
            let mut all = self.summary.groups.iter().flat_map(|group| &group.sides);
            let why = all.find(|side| side.name == name).and_then(|side| side.no_rank.clone());
            let why = why.unwrap_or_else(|| "no other side measured the same".to_owned());
            let next = "name it last among sides that measured the same";
            return Err(Error::plan(format!("--fail-if '{}': {name} has no rank: {why}", gate.condition), next));
        }
        let floor = sides.iter().all(|side| side.runs.len() > 1 || side.noise.is_some());
        for ([other, last], verdict, basis) in &self.last {
            if *verdict == Verdict::NotDecided && *basis != Basis::Machines {
                gate.refuse_too_few(*other, *last, 1, floor)?;
            }
        }
        Ok(gate.judge(&self.last.iter().map(|(_, verdict, _)| *verdict)))
    }
}

/// Why no side has a rank: each with its reason, and a remedy.
fn no_rank(by: OrderedBy, sides: &[&RankedSide]) -> Error {
    let reason = |side: &&RankedSide| format!("{} ({})", side.name, side.no_rank.as_deref().unwrap_or_default());
    let reasons: Vec<String> = sides.iter().map(reason).collect();
    let invalid = sides.iter().any(|side| side.validity == Validity::Invalid);
    let next = match by {
        _ if invalid => "measure the INVALID sides again, or pass --force to use their figures",
        OrderedBy::Price => "pass --prices FILE with a price for each side, or another --by",
        _ => "choose another --by, such as reads, logical-reads or throughput",
    };
    Error::run(format!("no side has a rank by {by}: {}", reasons.join("; ")), next)
}

fn refuse_shared(sides: &[NamedSide]) -> Result<()> {
    for (at, side) in sides.iter().enumerate() {
        for other in &sides[..at] {
            if let Some(id) = shared_run(&other.runs, &side.runs) {
                let what = format!("run {id} is on two sides, {} and {}", other.name, side.name);
                return Err(Error::plan(what, "name different runs for each side"));
            }
        }
    }
    Ok(())
}
