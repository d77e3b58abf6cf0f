//! Groups of what measured the same, the workload that their headings name, and the result in sentences.

use std::collections::BTreeMap;

use mindful_core::result::Validity;
use mindful_core::result::comparison::NamedFact;
use mindful_core::result::ranking::RankedSide;

use super::group::Group;
use super::run::RunsOfSide;
use crate::compare::figure::{ComparedFigure, OrderedBy};
use crate::compare::provenance::joined_places;

/// Facts that come first in each heading.
const FIRST: [&str; 4] = ["engine", "mix", "work unit", "active set"];

/// Facts that a heading names: engine, mix, work unit, active set, and each other in which the groups differ.
pub(super) fn differing_keys(groups: &[&[NamedFact]]) -> Vec<String> {
    let mut values: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for fact in groups.iter().copied().flatten() {
        values.entry(&fact.name).or_default().push(&fact.value);
    }
    let named = |(name, values): (&str, Vec<&str>)| {
        let differs = values.len() != groups.len() || values.iter().any(|value| *value != values[0]);
        (differs || FIRST.contains(&name)).then(|| name.to_owned())
    };
    values.into_iter().filter_map(named).collect()
}

/// The `shown` facts of a heading, in their order.
pub(super) fn measured_first(measured: Vec<NamedFact>, shown: &[String]) -> Vec<NamedFact> {
    let mut measured: Vec<_> = measured.into_iter().filter(|fact| shown.contains(&fact.name)).collect();
    measured.sort_by_key(|fact| FIRST.iter().position(|name| *name == fact.name).unwrap_or(FIRST.len()));
    measured
}

/// The workload of a side's runs.
pub(super) fn measured(side: &RunsOfSide) -> Vec<NamedFact> {
    let mut measured = joined_places(side.runs.iter().map(|run| run.measured.as_slice()));
    measured.sort();
    measured
}

/// Whether a fact of `others` has another value in `facts`.
fn contradict(facts: &[NamedFact], others: &[NamedFact]) -> bool {
    others.iter().any(|other| facts.iter().any(|fact| fact.name == other.name && fact.value != other.value))
}

/// Numbers of things that measured the same, in their order. Less is known of an INVALID one: it joins the first group
/// that it does not contradict and that it `may_join`.
pub(super) fn groups(
    things: &[(&[NamedFact], Validity)],
    may_join: impl Fn(usize, &[usize]) -> bool,
) -> Vec<(Vec<NamedFact>, Vec<usize>)> {
    let mut groups: Vec<(Vec<NamedFact>, Vec<usize>)> = Vec::new();
    let invalid = |at: &usize| things[*at].1 == Validity::Invalid;
    let (last, first): (Vec<usize>, Vec<usize>) = (0..things.len()).partition(invalid);
    for at in first.into_iter().chain(last) {
        let facts = things[at].0;
        let joins = |key: &[NamedFact], members: &[usize]| {
            key == facts || invalid(&at) && !contradict(key, facts) && may_join(at, members)
        };
        match groups.iter_mut().find(|(key, members)| joins(key, members)) {
            Some((_, members)) => members.push(at),
            None => groups.push((facts.to_vec(), vec![at])),
        }
    }
    groups
}

/// The sentence of a group: `c is 1.31 times b (1.25 to 1.38) and costs 0.92 of it; a and b cannot be told apart.`
pub(super) fn group_sentence(by: OrderedBy, group: &Group) -> Option<String> {
    let ranked: Vec<&RankedSide> = group.summary.sides.iter().filter(|side| side.rank.is_some()).collect();
    let [best, second, ..] = ranked.as_slice() else {
        let alone = ranked.first().filter(|_| group.summary.sides.len() > 1);
        return alone.map(|side| format!("only {} has a rank by {by}.", side.name));
    };
    let mut parts = Vec::new();
    if !group.are_alike(&best.name, &second.name) {
        parts.extend(lead(best, second, by, group));
    }
    parts.extend(indistinguishable(&ranked, group));
    if let Some(first) = parts.first_mut().filter(|part| part.ends_with(APART)) {
        *first = format!("by {by}, {first}");
    }
    Some(parts.join("; ") + ".").filter(|sentence| sentence.len() > 1)
}

const APART: &str = "cannot be told apart";

fn lead(best: &RankedSide, second: &RankedSide, by: OrderedBy, group: &Group) -> Option<String> {
    let (ratio, interval) = group.ratio(&best.name, &second.name)?;
    let interval = interval.map_or_else(String::new, |[low, high]| format!(" ({low:.2} to {high:.2})"));
    let (a, b) = (&best.name, &second.name);
    let figure = match by {
        OrderedBy::Price => return Some(format!("a million reads of {a} cost {ratio:.2} of those of {b}{interval}")),
        OrderedBy::ReadsWithin(objective) => format!("{a} is {ratio:.2} times {b}{interval} at {objective}"),
        OrderedBy::Figure(ComparedFigure::Reads) => format!("{a} is {ratio:.2} times {b}{interval}"),
        OrderedBy::Figure(figure) if figure.higher_is_faster() => {
            format!("{a} is {ratio:.2} times {b}{interval} by {}", figure.name())
        }
        OrderedBy::Figure(figure) => format!("the {} of {a} is {ratio:.2} of that of {b}{interval}", figure.name()),
    };
    let costs = |side: &RankedSide| side.price.clone();
    let price = costs(best).zip(costs(second)).filter(|(a, b)| a.currency == b.currency);
    let price = price.map(|(a, b)| format!(" and costs {:.2} of it", a.per_hour / b.per_hour));
    Some(figure + &price.unwrap_or_default())
}

/// Neighbours in the order that are not distinguishable.
fn indistinguishable(ranked: &[&RankedSide], group: &Group) -> Vec<String> {
    let (mut parts, mut covered) = (Vec::new(), 0);
    for from in 0..ranked.len() {
        let to = (from + 1..ranked.len())
            .take_while(|to| ranked[from..*to].iter().all(|side| group.are_alike(&side.name, &ranked[*to].name)));
        let to = to.last().unwrap_or(from);
        if to > from && to + 1 > covered {
            covered = to + 1;
            let names: Vec<&str> = ranked[from..=to].iter().map(|side| side.name.as_str()).collect();
            let (last, others) = names.split_last().map_or(("", &[][..]), |(last, others)| (*last, others));
            parts.push(format!("{} and {last} {APART}", others.join(", ")));
        }
    }
    parts
}
