//! Changes during a step, and the part of its window without changes.
//!
//! A change is noticed at a reading and happened since the reading before. Figures over a window that contains one
//! describe neither state, so the window ends before the first change. If no time is left there, it is the longest
//! stretch between two changes.

use std::collections::BTreeMap;

use mindful_core::contract::metric::{MetricKind, Phase};
use mindful_core::contract::watch::Decides;
use mindful_core::record::run::{Series, StepRecord};

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Change {
    /// Name of the changed circumstance, such as `fsync`.
    pub name: String,
    /// Its value before; `None` for a counter that restarted.
    pub before: Option<String>,
    pub after: Option<String>,
    pub decides: Decides,
    /// The boundary at which a reading showed it first.
    pub boundary: u32,
    phase: Phase,
}

impl Change {
    fn slices(&self) -> std::ops::Range<u32> {
        let begin = self.boundary.saturating_sub(1);
        // A value read in the middle of the next slice may have changed there.
        begin..self.boundary + u32::from(self.phase == Phase::Settled)
    }

    /// Whether it happened before boundary `first`, where the window begins.
    pub(crate) fn is_before(&self, first: u32) -> bool {
        self.boundary == 0 || self.slices().end <= first
    }

    /// When it happened, in words: between which seconds of the step after `first`, the boundary where the window begins.
    pub(crate) fn when(&self, step: &StepRecord, first: u32) -> String {
        let at = |boundary: u32| {
            let us = step.boundary_us(boundary).or(step.boundaries_us.last().copied());
            us.zip(step.boundary_us(first)).map_or(0.0, |(at, from)| (at - from) as f64 / 1e6)
        };
        let slices = self.slices();
        if self.is_before(first) {
            return "before the window".to_owned();
        }
        format!("at {:.0} to {:.0} s", at(slices.start).max(0.0), at(slices.end))
    }
}

/// All changes of `step` in order: changed circumstances, and counters that fell.
pub(crate) fn changes(step: &StepRecord) -> Vec<Change> {
    let mut changes: Vec<Change> = step.series.iter().filter_map(began_again).collect();
    let mut known: BTreeMap<(&str, &str), &Option<String>> = BTreeMap::new();
    for watched in &step.watched {
        for found in &watched.values {
            let before = known.insert((&watched.source, &found.name), &found.value);
            let Some(before) = before.filter(|before| **before != found.value) else { continue };
            changes.push(Change {
                name: found.name.clone(),
                before: before.clone(),
                after: found.value.clone(),
                decides: found.decides,
                boundary: watched.boundary.unwrap_or(0),
                phase: watched.phase,
            });
        }
    }
    changes.sort_by_key(|change| change.boundary);
    changes
}

/// The first reading of a source at which one of its counters was lower than before: it only grows until it is reset.
fn began_again(series: &Series) -> Option<Change> {
    let counters: Vec<usize> =
        (0..series.metrics.len()).filter(|at| series.metrics[*at].kind == MetricKind::Counter).collect();
    series.readings.windows(2).find_map(|pair| {
        let fell = |at: &&usize| pair[0].values[**at].zip(pair[1].values[**at]).is_some_and(|(a, b)| b < a);
        let fallen = counters.iter().find(fell)?;
        Some(Change {
            name: format!("counter {} of {}", series.metrics[*fallen].name, series.source),
            before: None,
            after: None,
            decides: Decides::Counters,
            boundary: pair[1].boundary,
            phase: series.phase,
        })
    })
}

/// The part of the window from boundary `first` to boundary `last` without changes; `None` if every slice contains one.
pub(crate) fn unchanged(step: &StepRecord, first: u32, last: u32) -> Option<(u32, u32)> {
    let all = changes(step);
    let changed = |slice: u32| all.iter().any(|change| change.boundary > 0 && change.slices().contains(&slice));
    let mut stretches: Vec<(u32, u32)> = Vec::new();
    for slice in (first..last).filter(|slice| !changed(*slice)) {
        match stretches.last_mut() {
            Some((_, end)) if *end == slice => *end += 1,
            _ => stretches.push((slice, slice + 1)),
        }
    }
    let longest = stretches.iter().copied().rev().max_by_key(|(begin, end)| end - begin);
    stretches.first().copied().filter(|(begin, _)| *begin == first).or(longest)
}
