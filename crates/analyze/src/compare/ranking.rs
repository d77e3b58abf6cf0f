//! Several sides in one order: groups that measured the same, ranks, prices, and the result in sentences.

pub(super) mod rank;
pub(super) mod table;

use std::collections::BTreeMap;

use mindful_core::plan::Price;
use mindful_core::record::run::Run;
use mindful_core::result::Validity;
use mindful_core::result::ranking::{NamedFact, RankedGroup, RankedSide, RankingSummary, RunsToSee};
use mindful_core::{Error, Result};

use self::rank::{Ranks, SideValues};
use super::answer::{Basis, Comparison, Question, RunValue, Verdict};
use super::criterion::{OrderedBy, OrderedRun};
use super::gate::{Gate, GateOutcome};
use super::noise::NoiseFloor;
use super::order::Sequence;
use super::power::runs_to_rank;
use super::provenance::{NOT_STATED, joined_provenance};
use super::runs::Side;
use super::sentence::{self, ComparedSides};
use super::sides::{compared_run, shared_run};
use super::{comparable, machines};
use crate::stats::moment::{median, variance};

const DIFFERENCES: [f64; 3] = [0.05, 0.1, 0.2];

const FIRST: [&str; 4] = ["engine", "mix", "work unit", "active set"];

#[derive(Debug)]
pub struct NamedSide {
    /// Its name: a tag, a run, a file or a folder.
    pub name: String,
    pub runs: Side,
    pub noise: Option<NoiseFloor>,
}

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
        let groups = groups(sides);
        let shown = differing_keys(&groups);
        let (mut ranked, mut last, mut sentences) = (Vec::new(), Vec::new(), Vec::new());
        for (measured, members) in groups {
            let members: Vec<&NamedSide> = members.iter().map(|at| &sides[*at]).collect();
            let group = Group::from_members(&members, by, margin, force)?;
            last = group.last(sides).unwrap_or(last);
            sentences.extend(sentence::group_sentence(&group.summary, by, &group));
            ranked.push(RankedGroup { measured: measured_first(measured, &shown), ..group.summary });
        }
        let with_rank = ranked.iter().flat_map(|group| &group.sides).any(|side| side.rank.is_some());
        if !with_rank {
            let first = ranked.first().and_then(|group| group.sides.first()).and_then(|side| side.no_rank.clone());
            return Err(Error::run(
                format!("no side has a rank by {by}: {}", first.unwrap_or_default()),
                "choose another --by, such as reads, logical-reads or throughput",
            ));
        }
        let summary = RankingSummary {
            format: 1,
            by: by.to_string(),
            unit: by.unit().to_owned(),
            higher_is_better: by.higher_is_better(),
            margin,
            sentences,
            groups: ranked,
            gate: None,
        };
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

/// Sides that measured the same, in their order. Less is known of an INVALID side: it joins the first group that it does
/// not contradict.
fn groups(sides: &[NamedSide]) -> Vec<(Vec<NamedFact>, Vec<usize>)> {
    let mut groups: Vec<(Vec<NamedFact>, Vec<usize>)> = Vec::new();
    let invalid = |at: &usize| validity(&sides[*at].runs) == Validity::Invalid;
    let (last, first): (Vec<usize>, Vec<usize>) = (0..sides.len()).partition(invalid);
    for at in first.into_iter().chain(last) {
        let facts = measured(&sides[at].runs);
        let contradicts = |key: &[NamedFact]| {
            facts.iter().any(|fact| key.iter().any(|other| other.name == fact.name && other.value != fact.value))
        };
        let same = |key: &Vec<NamedFact>| if invalid(&at) { !contradicts(key) } else { *key == facts };
        match groups.iter_mut().find(|(key, _)| same(key)) {
            Some((_, members)) => members.push(at),
            None => groups.push((facts, vec![at])),
        }
    }
    groups
}

fn validity(runs: &Side) -> Validity {
    runs.iter().map(|(_, analysis)| analysis.summary.validity).max().unwrap_or(Validity::Invalid)
}

/// Facts that a heading names: engine, mix, work unit, active set, and each other in which the groups differ.
fn differing_keys(groups: &[(Vec<NamedFact>, Vec<usize>)]) -> Vec<String> {
    let mut values: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for fact in groups.iter().flat_map(|(measured, _)| measured) {
        values.entry(&fact.name).or_default().push(&fact.value);
    }
    let named = |(name, values): (&str, Vec<&str>)| {
        let differs = values.len() != groups.len() || values.iter().any(|value| *value != values[0]);
        (differs || FIRST.contains(&name)).then(|| name.to_owned())
    };
    values.into_iter().filter_map(named).collect()
}

/// The facts of a heading in their order, of those that are `shown`.
fn measured_first(measured: Vec<NamedFact>, shown: &[String]) -> Vec<NamedFact> {
    let mut measured: Vec<_> = measured.into_iter().filter(|fact| shown.contains(&fact.name)).collect();
    measured.sort_by_key(|fact| FIRST.iter().position(|name| *name == fact.name).unwrap_or(FIRST.len()));
    measured
}

/// What the runs of a side measured.
fn measured(runs: &Side) -> Vec<NamedFact> {
    joined(runs.iter().flat_map(|(run, _)| comparable::measured(run)).map(|(name, value)| (name.to_owned(), value)))
}

fn joined(facts: impl Iterator<Item = (String, String)>) -> Vec<NamedFact> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in facts {
        let values = all.entry(name).or_default();
        if !values.contains(&value) {
            values.push(value);
        }
    }
    all.into_iter().map(|(name, values)| NamedFact { name, value: values.join(" / ") }).collect()
}

struct Group {
    summary: RankedGroup,
    ranks: Ranks,
    numbers: Vec<String>,
    runs: Vec<usize>,
}

impl ComparedSides for Group {
    fn are_alike(&self, a: &str, b: &str) -> bool {
        let (Some(a), Some(b)) = (self.number(a), self.number(b)) else { return false };
        !self.ranks.is_better(a, b) && !self.ranks.is_better(b, a)
    }

    fn ratio(&self, a: &str, b: &str) -> Option<(f64, Option<[f64; 2]>)> {
        self.ranks.ratio(self.number(a)?, self.number(b)?).map(|(ratio, interval, _)| (ratio, interval))
    }
}

impl Group {
    fn from_members(members: &[&NamedSide], by: OrderedBy, margin: f64, force: bool) -> Result<Self> {
        let mut ranked: Vec<(&NamedSide, Vec<OrderedRun>)> = Vec::new();
        let mut without: Vec<(&NamedSide, String)> = Vec::new();
        let currency = members.iter().find_map(|side| currencies(side).next());
        for side in members {
            match ordered_runs(side, by, force, currency) {
                Ok(runs) => ranked.push((side, runs)),
                Err(why) => without.push((side, why)),
            }
        }
        let values: Vec<SideValues> =
            ranked.iter().map(|(side, runs)| SideValues { runs: values_of(runs), noise: side.noise }).collect();
        let question =
            Question { margin, higher_is_faster: by.higher_is_better(), resamples: 0, ..Question::default() };
        let mut ranks = Ranks::from_sides(&values, &question)?;
        let ranked_sides: Vec<&NamedSide> = ranked.iter().map(|(side, _)| *side).collect();
        let doubts = leave_open(&mut ranks, &ranked_sides, &values, margin);
        let mut sides = Vec::new();
        for at in &ranks.order {
            let (side, runs) = &ranked[*at];
            let best = ranks.order[0];
            let ratio = ranks.ratio(*at, best).filter(|_| *at != best);
            let reads: Vec<f64> = runs.iter().filter_map(|run| run.reads).collect();
            sides.push(RankedSide {
                rank: Some(ranks.ranks[*at]),
                value: Some(values[*at].median()),
                interval: values[*at].interval(),
                by_best: ratio.map(|(ratio, ..)| ratio).or(Some(1.0)),
                by_best_interval: ratio.and_then(|(_, interval, _)| interval),
                basis: ratio.map(|(.., compared)| compared.basis),
                machines: machines::spread(&values[*at].runs, margin),
                ..priced(unranked(side, runs, None), median(&reads))
            });
        }
        sides.extend(without.iter().map(|(side, why)| unranked(side, &[], Some(why.clone()))));
        mark_efficient(&mut sides, by);
        add_differences(&mut sides, members);
        let variation = pooled(&values);
        let count = values.len();
        let needed = |variation: f64| {
            DIFFERENCES
                .map(|difference| RunsToSee { difference, runs: runs_to_rank(variation, difference, margin, count) })
        };
        let runs_to_see = variation.filter(|_| count > 1).map(|v| needed(v).to_vec()).unwrap_or_default();
        let numbers = ranked.iter().map(|(side, _)| side.name.clone()).collect();
        let runs = values.iter().map(|side| side.runs.len()).collect();
        Ok(Self {
            summary: RankedGroup { measured: Vec::new(), sides, doubts, variation, runs_to_see },
            ranks,
            numbers,
            runs,
        })
    }

    fn number(&self, name: &str) -> Option<usize> {
        self.numbers.iter().position(|known| known == name)
    }

    /// The verdicts on the last of all `sides`, if it has a rank here.
    fn last(&self, sides: &[NamedSide]) -> Option<Vec<([usize; 2], Verdict, Basis)>> {
        let last = self.number(&sides.last()?.name)?;
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

/// Leaves the pairs open that were not measured in turn and may differ by the time of their runs; returns why.
fn leave_open(ranks: &mut Ranks, sides: &[&NamedSide], values: &[SideValues], margin: f64) -> Vec<String> {
    let mut doubts = Vec::new();
    for (b, candidate) in sides.iter().enumerate() {
        for (a, baseline) in sides[..b].iter().enumerate() {
            let names = [baseline.name.as_str(), &candidate.name];
            let Some(sequence) = Sequence::from_sides([&baseline.runs, &candidate.runs], names) else { continue };
            let [of_a, of_b] = [a, b].map(|at| values[at].runs.iter().map(|run| run.value).collect::<Vec<_>>());
            let apart = ranks.is_better(a, b) || ranks.is_better(b, a);
            if let Some(doubt) = sequence.doubt([&of_a, &of_b], margin).filter(|_| apart) {
                ranks.leave_open(a, b);
                doubts.push(format!("{} and {} are not told apart: {doubt}", names[0], names[1]));
            }
        }
    }
    doubts
}

/// The currencies of the prices of a side.
fn currencies(side: &NamedSide) -> impl Iterator<Item = &str> {
    side.runs.iter().filter_map(|(run, _)| Some(run.head.plan.price.as_ref()?.currency.as_str()))
}

/// The values of the runs of a side, or why it has no rank. Prices in another currency than `currency` have none.
fn ordered_runs(
    side: &NamedSide,
    by: OrderedBy,
    force: bool,
    currency: Option<&str>,
) -> std::result::Result<Vec<OrderedRun>, String> {
    let invalid = side.runs.iter().find(|(_, analysis)| analysis.summary.validity == Validity::Invalid && !force);
    if let Some((run, analysis)) = invalid {
        let because = compared_run(&analysis.summary).because;
        let why = if because.is_empty() { "it did not finish".to_owned() } else { because.join(", ") };
        return Err(format!("INVALID: run {}: {why}", run.head.id));
    }
    let mut foreign: Vec<&str> = currencies(side).filter(|other| Some(*other) != currency).collect();
    foreign.dedup();
    if by == OrderedBy::Price && !foreign.is_empty() {
        return Err(format!(
            "priced in {}, and the first side in {}",
            foreign.join(" and "),
            currency.unwrap_or_default()
        ));
    }
    side.runs.iter().map(|(run, analysis)| by.ordered_run(run, analysis)).collect()
}

fn values_of(runs: &[OrderedRun]) -> Vec<RunValue> {
    runs.iter().map(|run| run.value.clone()).collect()
}

/// One side: its figure and its price, or the reason why it does not have a figure.
fn single(side: &NamedSide, by: OrderedBy) -> RankedSide {
    match ordered_runs(side, by, false, currencies(side).next()) {
        Ok(runs) => {
            let values = SideValues { runs: values_of(&runs), noise: side.noise };
            let reads: Vec<f64> = runs.iter().filter_map(|run| run.reads).collect();
            let side = priced(unranked(side, &runs, None), median(&reads));
            RankedSide { value: Some(values.median()), interval: values.interval(), ..side }
        }
        Err(why) => unranked(side, &[], Some(why)),
    }
}

/// A side with nothing of its ranks.
fn unranked(side: &NamedSide, ordered: &[OrderedRun], no_rank: Option<String>) -> RankedSide {
    let runs = side.runs.iter().enumerate().map(|(at, (_, analysis))| {
        let mut run = compared_run(&analysis.summary);
        run.value = ordered.get(at).map(|run| run.value.value);
        run
    });
    RankedSide {
        name: side.name.clone(),
        rank: None,
        no_rank,
        value: None,
        interval: None,
        by_best: None,
        by_best_interval: None,
        basis: None,
        validity: validity(&side.runs),
        runs: runs.collect(),
        machines: None,
        reads_per_s: None,
        price: price(&side.runs),
        per_month: price(&side.runs).map(|price| price.per_month()),
        per_million_reads: None,
        efficient: None,
        place: joined_provenance(side.runs.iter().map(|(run, _)| run)),
        differs: Vec::new(),
    }
}

fn price(runs: &Side) -> Option<Price> {
    let mut prices = runs.iter().map(|(run, _)| run.head.plan.price.as_ref());
    let first = prices.next()??;
    prices.all(|other| other == Some(first)).then(|| first.clone())
}

fn priced(side: RankedSide, reads: Option<f64>) -> RankedSide {
    let reads = reads.filter(|reads| *reads > 0.0);
    let per_million_reads = side.price.as_ref().zip(reads).map(|(price, reads)| price.per_million(reads));
    RankedSide { reads_per_s: reads, per_million_reads, ..side }
}

/// Marks the sides that no side beats which costs no more.
fn mark_efficient(sides: &mut [RankedSide], by: OrderedBy) {
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
        // Cheapest first, of one price the best first: what comes later has to be better than all before it.
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
fn add_differences(sides: &mut [RankedSide], members: &[&NamedSide]) {
    let runs: Vec<Vec<Run>> =
        members.iter().map(|side| side.runs.iter().map(|(run, _)| run.clone()).collect()).collect();
    let groups: Vec<&[Run]> = runs.iter().map(Vec::as_slice).collect();
    let differing = comparable::all_differences(&groups);
    for side in sides {
        let Some(at) = members.iter().position(|member| member.name == side.name) else { continue };
        let value = |(name, row): &(String, Vec<Option<String>>)| {
            let value = row[at].clone().unwrap_or_else(|| NOT_STATED.to_owned());
            NamedFact { name: name.clone(), value }
        };
        side.differs = differing.iter().map(value).collect();
    }
}

/// Standard deviation between runs, pooled over the sides with several.
fn pooled(sides: &[SideValues]) -> Option<f64> {
    let (mut squares, mut freedom) = (0.0, 0.0);
    for side in sides.iter().filter(|side| side.runs.len() > 1) {
        let logarithms: Vec<f64> = side.runs.iter().map(|run| run.value.ln()).collect();
        let count = (side.runs.len() - 1) as f64;
        squares += variance(&logarithms)? * count;
        freedom += count;
    }
    (freedom > 0.0).then(|| (squares / freedom).sqrt())
}
