//! The workload of sides, and the part of it that headings of groups name.

use std::collections::BTreeMap;

use mindful_core::result::comparison::NamedFact;

use super::run::RunsOfSide;

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
    let mut all: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for (name, value) in side.runs.iter().flat_map(|run| &run.measured) {
        let values = all.entry(name).or_default();
        if !values.contains(&value.as_str()) {
            values.push(value);
        }
    }
    all.into_iter().map(|(name, values)| NamedFact { name: name.to_owned(), value: values.join(" / ") }).collect()
}

/// Whether a fact of `others` has another value in `facts`.
pub(super) fn contradict(facts: &[NamedFact], others: &[NamedFact]) -> bool {
    others.iter().any(|other| facts.iter().any(|fact| fact.name == other.name && fact.value != other.value))
}
