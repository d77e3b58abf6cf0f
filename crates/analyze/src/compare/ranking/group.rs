//! Sides that measured the same, in one order.

use std::collections::BTreeMap;

use mindful_core::Result;
use mindful_core::plan::Price;
use mindful_core::result::comparison::{ComparedRun, NamedFact};
use mindful_core::result::ranking::{RankedGroup, RankedSide, RankingSummary, RunsToSee};

use super::rank::{Ranks, SideValues};
use super::run::{RunsOfSide, values_of};
use crate::compare::answer::{Basis, Comparison, Question, Verdict};
use crate::compare::figure::{OrderedBy, OrderedRun};
use crate::compare::order::Sequence;
use crate::compare::power::runs_to_rank;
use crate::compare::provenance::{NOT_STATED, joined_places};
use crate::compare::{comparable, machines, student};
use crate::stats::moment::{median, pooled_variance};

const DIFFERENCES: [f64; 3] = [0.05, 0.1, 0.2];

pub(super) struct Group {
    pub(super) summary: RankedGroup,
    ranks: Ranks,
    names: Vec<String>,
    runs: Vec<usize>,
}

impl Group {
    pub(super) fn from_members(members: &[&RunsOfSide], by: OrderedBy, margin: f64, force: bool) -> Result<Self> {
        let mut ranked: Vec<(&RunsOfSide, Vec<&OrderedRun>)> = Vec::new();
        let mut without: Vec<(&RunsOfSide, String)> = Vec::new();
        let currency = members.iter().find_map(|side| side.currencies().next());
        for side in members {
            match side.ordered(by, force, currency) {
                Ok(runs) => ranked.push((side, runs)),
                Err(why) => without.push((side, why)),
            }
        }
        let values: Vec<SideValues> =
            ranked.iter().map(|(side, runs)| SideValues { runs: values_of(runs), noise: side.noise }).collect();
        let question =
            Question { margin, higher_is_faster: by.higher_is_better(), resamples: 0, ..Question::default() };
        let mut ranks = Ranks::from_sides(&values, &question)?;
        let ranked_sides: Vec<&RunsOfSide> = ranked.iter().map(|(side, _)| *side).collect();
        let doubts = leave_open(&mut ranks, &ranked_sides, &values, margin);
        let mut sides = Vec::new();
        for at in &ranks.order {
            let (side, runs) = &ranked[*at];
            let best = ranks.order[0];
            let ratio = ranks.ratio(*at, best).filter(|_| *at != best);
            sides.push(RankedSide {
                rank: Some(ranks.ranks[*at]),
                by_best: ratio.map(|(ratio, ..)| ratio).or(Some(1.0)),
                by_best_interval: ratio.and_then(|(_, interval, _)| interval),
                basis: ratio.map(|(.., compared)| compared.basis),
                machines: machines::spread(&values[*at].runs, margin),
                ..measured_side(side, runs, &values[*at])
            });
        }
        sides.extend(without.iter().map(|(side, why)| unranked(side, &[], Some(why.clone()))));
        mark_efficient(&mut sides, by);
        add_differences(&mut sides, members);
        let logarithms: Vec<Vec<f64>> = values.iter().map(|side| student::logarithms(&side.runs)).collect();
        let variation = pooled_variance(logarithms.iter().map(Vec::as_slice)).map(f64::sqrt);
        let count = values.len();
        let needed = |variation: f64| {
            DIFFERENCES
                .map(|difference| RunsToSee { difference, runs: runs_to_rank(variation, difference, margin, count) })
        };
        let runs_to_see = variation.filter(|_| count > 1).map(|v| needed(v).to_vec()).unwrap_or_default();
        let names = ranked.iter().map(|(side, _)| side.name.clone()).collect();
        let runs = values.iter().map(|side| side.runs.len()).collect();
        Ok(Self {
            summary: RankedGroup { measured: Vec::new(), sides, doubts, variation, runs_to_see },
            ranks,
            names,
            runs,
        })
    }

    /// Whether neither is better than the other.
    pub(super) fn are_alike(&self, a: &str, b: &str) -> bool {
        let (Some(a), Some(b)) = (self.number(a), self.number(b)) else { return false };
        !self.ranks.is_better(a, b) && !self.ranks.is_better(b, a)
    }

    /// `a` by `b`, with the interval.
    pub(super) fn ratio(&self, a: &str, b: &str) -> Option<(f64, Option<[f64; 2]>)> {
        self.ranks.ratio(self.number(a)?, self.number(b)?).map(|(ratio, interval, _)| (ratio, interval))
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.names.iter().position(|known| known == name)
    }

    /// The side `name` compared with each other one of the group; `None` if it has no rank here.
    pub(super) fn last(&self, name: &str) -> Option<Vec<([usize; 2], Verdict, Basis)>> {
        let last = self.number(name)?;
        let of_other = |(other, compared): (usize, &Comparison)| {
            let verdict = match (self.ranks.is_better(last, other), self.ranks.is_better(other, last)) {
                (true, _) => Verdict::Faster,
                (_, true) => Verdict::Slower,
                _ => compared.verdict,
            };
            ([self.runs[other], self.runs[last]], verdict, compared.basis)
        };
        Some(self.ranks.comparisons_of(last).map(of_other).collect())
    }
}

pub(super) fn summary(by: OrderedBy, margin: f64, sentences: Vec<String>, groups: Vec<RankedGroup>) -> RankingSummary {
    RankingSummary {
        format: 1,
        by: by.to_string(),
        unit: by.unit().to_owned(),
        higher_is_better: by.higher_is_better(),
        margin,
        sentences,
        groups,
        gate: None,
    }
}

/// Leaves the pairs open that were not measured in turn and may differ by the time of their runs; returns why.
fn leave_open(ranks: &mut Ranks, sides: &[&RunsOfSide], values: &[SideValues], margin: f64) -> Vec<String> {
    let mut doubts = Vec::new();
    for (b, candidate) in sides.iter().enumerate() {
        for (a, baseline) in sides[..b].iter().enumerate() {
            if !ranks.is_better(a, b) && !ranks.is_better(b, a) {
                continue;
            }
            let names = [baseline.name.as_str(), &candidate.name];
            let moments = [baseline.moments(), candidate.moments()];
            let Some(sequence) = Sequence::from_sides(moments, names) else { continue };
            let [of_a, of_b] = [a, b].map(|at| values[at].runs.iter().map(|run| run.value).collect::<Vec<_>>());
            if let Some(doubt) = sequence.doubt([&of_a, &of_b], margin) {
                ranks.leave_open(a, b);
                doubts.push(format!("{} and {} are not told apart: {doubt}", names[0], names[1]));
            }
        }
    }
    doubts
}

/// One side: its figure and its price, or the reason why it does not have a figure.
pub(super) fn single(side: &RunsOfSide, by: OrderedBy) -> RankedSide {
    match side.ordered(by, false, side.currencies().next()) {
        Ok(runs) => measured_side(side, &runs, &SideValues { runs: values_of(&runs), noise: side.noise }),
        Err(why) => unranked(side, &[], Some(why)),
    }
}

/// A side with its figure and its price, and nothing of its ranks.
fn measured_side(side: &RunsOfSide, runs: &[&OrderedRun], values: &SideValues) -> RankedSide {
    let reads: Vec<f64> = runs.iter().filter_map(|run| run.reads).collect();
    let reads_per_s = median(&reads).filter(|reads| *reads > 0.0);
    let ranked = unranked(side, runs, None);
    RankedSide {
        value: Some(values.median()),
        interval: values.interval(),
        per_million_reads: ranked.price.as_ref().zip(reads_per_s).map(|(price, reads)| price.per_million(reads)),
        reads_per_s,
        ..ranked
    }
}

/// A side with nothing of its ranks.
fn unranked(side: &RunsOfSide, ordered: &[&OrderedRun], no_rank: Option<String>) -> RankedSide {
    let value = |at: usize| ordered.get(at).map(|run| run.value.value);
    let runs = side.runs.iter().enumerate();
    let price = side.price();
    RankedSide {
        name: side.name.clone(),
        no_rank,
        validity: side.validity(),
        runs: runs.map(|(at, run)| ComparedRun { value: value(at), ..run.compared.clone() }).collect(),
        per_month: price.as_ref().map(Price::per_month),
        price,
        place: joined_places(side.runs.iter().map(|run| run.place.as_slice())),
        ..RankedSide::default()
    }
}

/// Marks the sides that no side beats which costs no more.
pub(super) fn mark_efficient(sides: &mut [RankedSide], by: OrderedBy) {
    let buys = |side: &RankedSide| {
        let figure = if by == OrderedBy::Price { side.reads_per_s } else { side.value };
        let higher = by == OrderedBy::Price || by.higher_is_better();
        figure.map(|figure| if higher { figure } else { -figure })
    };
    let mut points: BTreeMap<String, Vec<(f64, f64, usize)>> = BTreeMap::new();
    for (at, side) in sides.iter().enumerate() {
        if let (Some(price), Some(month), Some(figure)) = (&side.price, side.per_month, buys(side)) {
            points.entry(price.currency.clone()).or_default().push((month, figure, at));
        }
    }
    for side in &mut *sides {
        side.efficient = None;
    }
    for mut points in points.into_values() {
        // Cheapest first, at equal prices the best first: a later side must be better than all before it.
        points.sort_by(|a, b| a.0.total_cmp(&b.0).then(b.1.total_cmp(&a.1)));
        let mut best: Option<(f64, f64)> = None;
        for (month, figure, at) in points {
            let efficient = best.is_none_or(|best| figure > best.1 || (month, figure) == best);
            sides[at].efficient = Some(efficient);
            if efficient {
                best = Some((month, figure));
            }
        }
    }
}

/// The facts in which the sides of a group differ, with the value of each.
fn add_differences(sides: &mut [RankedSide], members: &[&RunsOfSide]) {
    let facts: Vec<_> = members.iter().map(|side| side.facts()).collect();
    let differing = comparable::differences_among(&facts);
    for side in sides {
        let Some(at) = members.iter().position(|member| member.name == side.name) else { continue };
        let value = |(name, row): &(String, Vec<Option<String>>)| {
            let value = row[at].clone().unwrap_or_else(|| NOT_STATED.to_owned());
            NamedFact { name: name.clone(), value }
        };
        side.differs = differing.iter().map(value).collect();
    }
}
