//! Merges the parts of a step that several ranks took together by adding counts, in any order, and adds the counters of
//! several targets.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::contract::event::Event;
use crate::contract::metric::{Counter, HostSource, Metric, MetricKind};
use crate::contract::slice::{LongOp, Placement, SliceReport};
use crate::plan::units::format_counted;
use crate::ranks::rank::MOST_RANKS;
use crate::record::rank_record::{MergedSlice, RankRecord, Span, Spans};
use crate::record::run::{Merged, MergedSliceSum, Series, StepRecord};

impl StepRecord {
    /// The work of one rank's sessions, as it is sent to the first rank: with the CPU of its process and the counters
    /// that `keeps` selects.
    pub fn to_rank_part(&self, cpus: Option<f64>, keeps: KeptCounters) -> Result<Self, String> {
        let [rank] = &*self.ranks else { return Err("it is not part of a run of several ranks".to_owned()) };
        let cpu_us = cpu_us(&self.series);
        let rank = RankRecord { cpus, cpu_us, ..rank.clone() };
        Ok(Self {
            ranks: vec![rank],
            series: self.series.iter().filter(|series| keeps.includes(series)).cloned().collect(),
            latencies: if keeps == KeptCounters::All { self.latencies.clone() } else { Vec::new() },
            busiest: if keeps == KeptCounters::All { self.busiest.clone() } else { Vec::new() },
            watched: if keeps == KeptCounters::All { self.watched.clone() } else { Vec::new() },
            merged: Merged::from_parts(self.merged.slices.clone(), self.merged.work.clone()),
            ..self.clone()
        })
    }

    /// Events that reproduce the step when they are added to a step with the same head.
    pub fn to_events(&self) -> impl Iterator<Item = Event> + '_ {
        let started =
            Event::Started { boundaries_us: self.boundaries_us.clone(), clock_offset_us: self.clock_offset_us };
        let ranks = self.ranks.iter().map(|rank| Event::Rank(rank.clone()));
        let spans = Event::Spans(self.merged.work.clone());
        let together = self.merged.slices.iter().map(|slice| Event::MergedSlice(slice.clone()));
        let slices =
            self.unmerged.iter().map(|(session, report)| Event::Slice { session: *session, report: report.clone() });
        let end = Event::StepEnd { error: self.error.clone(), interrupted: self.interrupted };
        std::iter::once(started)
            .chain(ranks)
            .chain([spans])
            .chain(together)
            .chain(slices)
            .chain(self.series.iter().flat_map(series_events))
            .chain(self.latencies.iter().map(|(source, boundary, sampled)| Event::Latencies {
                source: source.clone(),
                boundary: *boundary,
                sampled: sampled.clone(),
            }))
            .chain(self.busiest.iter().map(|(boundary, processes)| Event::Busiest {
                source: HostSource::Neighbours.name().to_owned(),
                boundary: *boundary,
                processes: processes.clone(),
            }))
            .chain(self.watched.iter().cloned().map(Event::Watched))
            .chain(self.window.map(|(first, last)| Event::Window { first, last }))
            .chain([end])
    }
}

fn series_events(series: &Series) -> impl Iterator<Item = Event> + '_ {
    let source = Event::Source { source: series.source.clone(), metrics: series.metrics.clone(), phase: series.phase };
    std::iter::once(source).chain(series.readings.iter().map(|reading| Event::Sample {
        source: series.source.clone(),
        boundary: reading.boundary,
        at_us: reading.at_us,
        cost_us: reading.cost_us,
        values: reading.values.clone(),
    }))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptCounters {
    /// None: another rank has them.
    Nothing,
    /// Counters of a target inside this process.
    InProcess,
    /// All: the rank managed a target.
    All,
}

impl KeptCounters {
    fn includes(self, series: &Series) -> bool {
        self == Self::All || self == Self::InProcess && of_target(series)
    }
}

/// Whether these are counters of the target itself, and not of its host.
fn of_target(series: &Series) -> bool {
    let its = [Counter::LogicalReads, Counter::PhysicalReads];
    series.metrics.iter().any(|metric| its.iter().any(|counter| metric.name == *counter))
}

/// Adds the counters of `other`, of a target in another process. A counter that one of the two does not report is
/// unknown for both.
fn add_counters(all: &mut Series, other: &Series) {
    let place = |metric: &Metric| other.metrics.iter().position(|of| of.name == metric.name && of.kind == metric.kind);
    let places: Vec<Option<usize>> =
        all.metrics.iter().map(|metric| place(metric).filter(|_| metric.kind == MetricKind::Counter)).collect();
    for reading in &mut all.readings {
        let theirs = other.readings.iter().find(|theirs| theirs.boundary == reading.boundary);
        for (value, place) in reading.values.iter_mut().zip(&places) {
            let more = theirs.zip(*place).and_then(|(theirs, place)| *theirs.values.get(place)?);
            *value = value.zip(more).map(|(value, more)| value + more);
        }
    }
}

/// Sums the counters that all `targets` report, from the sources that `adds_up` accepts. A counter that one target does
/// not report is unknown for all.
pub fn sum_counters(targets: &[&StepRecord], adds_up: impl Fn(&str) -> bool) -> Vec<Series> {
    let Some((first, others)) = targets.split_first() else { return Vec::new() };
    let sum = |series: &Series| {
        let mut all = counters(series)?;
        for other in others {
            let theirs = other.series.iter().find(|theirs| theirs.source == series.source)?;
            add_counters(&mut all, theirs);
        }
        Some(all)
    };
    first.series.iter().filter(|series| adds_up(&series.source)).filter_map(sum).collect()
}

/// The counters of `series`; `None` without counters. Gauges cannot be summed.
fn counters(series: &Series) -> Option<Series> {
    let counts = |at: &usize| series.metrics.get(*at).is_some_and(|metric| metric.kind == MetricKind::Counter);
    let kept: Vec<usize> = (0..series.metrics.len()).filter(counts).collect();
    let mut all = series.clone();
    all.metrics = kept.iter().filter_map(|at| series.metrics.get(*at).cloned()).collect();
    for reading in &mut all.readings {
        reading.values = kept.iter().map(|at| reading.values.get(*at).copied().flatten()).collect();
    }
    (!kept.is_empty()).then_some(all)
}

fn cpu_us(series: &[Series]) -> Vec<(u32, f64)> {
    let name = Counter::ClientCpuUs.name();
    let found = series.iter().find_map(|series| {
        let at = series.metrics.iter().position(|metric| metric.name == name)?;
        Some(series.readings.iter().filter_map(move |reading| Some((reading.boundary, (*reading.values.get(at)?)?))))
    });
    found.into_iter().flatten().collect()
}

/// Takes the parts of ranks one by one and makes one step of them.
#[derive(Debug)]
pub struct RankMerge {
    /// The first rank's step, which has the counters.
    first: StepRecord,
    ranks: Range<u32>,
    parts: BTreeMap<u32, PartFacts>,
    slices: BTreeMap<u32, MergedSliceSum>,
    /// Sums over all ranks; the parts have the spans of their sessions.
    work: Spans,
}

#[derive(Debug)]
struct PartFacts {
    rank: RankRecord,
    placements: Vec<Placement>,
    spans: Vec<Option<Span>>,
    unmerged: Vec<(u32, SliceReport)>,
}

impl RankMerge {
    /// From the first rank's step with all its counters.
    pub fn new(first: StepRecord, cpus: Option<f64>) -> Result<Self, String> {
        let of = first.ranks.first().map_or(0, |rank| rank.ranks);
        Self::for_ranks(first, cpus, 0..of)
    }

    /// A merge for one of several targets, from the step of the rank that managed it.
    pub fn for_target(first: StepRecord, cpus: Option<f64>) -> Result<Self, String> {
        let on =
            first.ranks.first().and_then(|rank| rank.on_target).ok_or("it is not part of a run of several targets")?;
        Self::for_ranks(first, cpus, on.first_rank..on.first_rank.saturating_add(on.ranks))
    }

    fn for_ranks(first: StepRecord, cpus: Option<f64>, ranks: Range<u32>) -> Result<Self, String> {
        // Its counters are there already.
        let part = first.to_rank_part(cpus, KeptCounters::Nothing)?;
        if ranks.len() > MOST_RANKS as usize {
            return Err(format!(
                "it is of {}, and no run has more than {}",
                format_counted(ranks.len(), "rank"),
                format_counted(MOST_RANKS, "rank")
            ));
        }
        let mut gathered =
            Self { first, ranks, parts: BTreeMap::new(), slices: BTreeMap::new(), work: Spans::default() };
        gathered.add(&part)?;
        Ok(gathered)
    }

    /// Adds the part of one rank.
    pub fn add(&mut self, part: &StepRecord) -> Result<(), String> {
        let [rank] = &*part.ranks else { return Err("it is not part of a run of several ranks".to_owned()) };
        let mine = self.first.ranks.first().cloned().unwrap_or_default();
        if (rank.ranks, &rank.job) != (mine.ranks, &mine.job) {
            return Err(format!(
                "rank {} is of another run: job {} of {}",
                rank.rank,
                rank.job,
                format_counted(rank.ranks, "rank")
            ));
        }
        if !self.ranks.contains(&rank.rank) {
            return Err(format!("rank {} worked on another target", rank.rank));
        }
        if rank.sessions as usize != part.head.placements.len() || self.parts.contains_key(&rank.rank) {
            return Err(format!("rank {} occurs twice, or is incomplete", rank.rank));
        }
        let begin = |step: &StepRecord| step.boundaries_us.first().copied();
        let Some(base) = rank.first_session.checked_sub(mine.first_session) else {
            return Err(format!("the sessions of rank {} come before those of the first", rank.rank));
        };
        let Some(shift_us) = begin(&self.first).zip(begin(part)).map(|(first, own)| first.saturating_sub(own)) else {
            return Err(format!("rank {} never started", rank.rank));
        };
        let shifted = part.boundaries_us.iter().map(|us| us.saturating_add(shift_us));
        if !shifted.eq(self.first.boundaries_us.iter().copied()) {
            return Err(format!("the slices of rank {} are not those of rank 0", rank.rank));
        }
        let moved = |us: i64| us.saturating_add(shift_us);
        for slice in &part.merged.slices {
            self.slices.entry(slice.report.index).or_default().add(slice, base, shift_us);
        }
        for all in self.first.series.iter_mut().filter(|_| rank.rank != mine.rank) {
            if let Some(theirs) = part.series.iter().find(|theirs| theirs.source == all.source) {
                add_counters(all, theirs);
            }
        }
        let Spans { spans, occupied_us, published } = &part.merged.work;
        self.work.published.merge_shifted(published, shift_us);
        let all_us = &mut self.work.occupied_us;
        all_us.resize(all_us.len().max(occupied_us.len()), 0);
        all_us.iter_mut().zip(occupied_us).for_each(|(all, us)| *all = all.saturating_add(*us));
        let spans = spans.iter().map(|span| span.map(|(begin, end)| (moved(begin), moved(end))));
        let unmerged = part.unmerged.iter().map(|(session, report)| {
            let (begin_us, end_us) = (moved(report.begin_us), moved(report.end_us));
            let long = report.long.iter().map(|op| LongOp { begin_us: moved(op.begin_us), ..*op }).collect();
            (session.saturating_add(base), SliceReport { begin_us, end_us, long, ..report.clone() })
        });
        let facts = PartFacts {
            rank: rank.clone(),
            placements: part.head.placements.clone(),
            spans: spans.collect(),
            unmerged: unmerged.collect(),
        };
        self.parts.insert(facts.rank.rank, facts);
        Ok(())
    }

    fn missing(&self) -> Option<u32> {
        self.ranks.clone().find(|rank| !self.parts.contains_key(rank))
    }

    /// Drops the first rank's counters: counters of several targets are summed when all are complete.
    pub fn forget_counters(&mut self) {
        self.first.series.clear();
        self.first.latencies.clear();
        self.first.busiest.clear();
        self.first.watched.clear();
    }

    /// All parts as one step, with the counters of the first rank.
    pub fn finish(self) -> Result<StepRecord, String> {
        if let Some(rank) = self.missing() {
            return Err(format!("rank {rank} is missing"));
        }
        let mut step = self.first;
        // A target's ranks are all that there are in its run.
        let of = self.ranks.len() as u32;
        let (mut spans, mut next) = (Vec::new(), step.ranks.first().map_or(0, |rank| rank.first_session));
        (step.head.placements, step.ranks, step.unmerged) = (Vec::new(), Vec::new(), Vec::new());
        for part in self.parts.into_values() {
            if part.rank.first_session != next {
                return Err(format!("the sessions of rank {} do not follow those before", part.rank.rank));
            }
            next = next.saturating_add(part.rank.sessions);
            spans.extend(part.spans);
            step.head.placements.extend(part.placements);
            step.unmerged.extend(part.unmerged);
            step.ranks.push(RankRecord { ranks: of, ..part.rank });
        }
        step.unmerged.sort_by_key(|(session, report)| (report.index, *session));
        let between = |index: u32| {
            let at = |index: usize| step.boundaries_us.get(index).copied().unwrap_or_default();
            (at(index as usize), at(index as usize + 1))
        };
        let slices: Vec<MergedSlice> =
            self.slices.into_iter().map(|(index, sum)| sum.finish(index, between(index))).collect();
        step.merged = Merged::from_parts(slices, Spans { spans, ..self.work });
        Ok(step)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::metric::Phase;
    use crate::record::run::Reading;

    fn series(names: &[&str], readings: &[(u32, &[Option<f64>])]) -> Series {
        let reading = |(boundary, values): &(u32, &[Option<f64>])| Reading {
            boundary: *boundary,
            at_us: 0,
            cost_us: 0,
            values: values.to_vec(),
        };
        Series {
            source: "its own".to_owned(),
            metrics: names.iter().map(|name| Metric::counter(*name, "blocks", "")).collect(),
            phase: Phase::Boundary,
            readings: readings.iter().map(reading).collect(),
        }
    }

    #[test]
    fn counters_add_up_unless_one_is_unknown() {
        let mut all = series(&["a", "b", "c"], &[(0, &[Some(1.0), Some(2.0), Some(3.0)]), (1, &[Some(4.0); 3])]);
        // The other has them in another order, has no c, and missed a reading.
        add_counters(&mut all, &series(&["b", "a"], &[(0, &[Some(20.0), None])]));
        let values: Vec<_> = all.readings.iter().map(|reading| reading.values.clone()).collect();
        assert_eq!(values, [[None, Some(22.0), None], [None; 3]]);
        assert!(!of_target(&all) && of_target(&series(&[Counter::PhysicalReads.name()], &[])));
    }
}
