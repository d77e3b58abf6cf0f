//! A run as it is stored and read back.

mod asked;
mod merged;

use crate::contract::description::{AccessPath, Description, HostView, Words};
use crate::contract::event::Event;
use crate::contract::metric::{Metric, Phase, ProcessCpu};
use crate::contract::slice::{LongOp, SliceReport};
use crate::dataset::{Dataset, LayoutProof};
pub use crate::record::head::{
    FORMAT, Facts, HookRecord, Imported, Point, RunHead, StepHead, Watched, values_in_words,
};
use crate::record::latency::SampledLatencies;
pub use crate::record::rank_record::{MergedSlice, Published, RankRecord, RankTarget, Span, Spans};
use crate::result::finding::Finding;
pub use merged::Merged;
pub(crate) use merged::MergedSliceSum;

#[derive(Debug, Clone, PartialEq)]
pub struct Reading {
    /// Its boundary of slices.
    pub boundary: u32,
    /// When it was read, us since the epoch on this host's clock.
    pub at_us: i64,
    pub cost_us: u64,
    /// One value a metric.
    pub values: Vec<Option<f64>>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    pub source: String,
    pub metrics: Vec<Metric>,
    pub phase: Phase,
    pub readings: Vec<Reading>,
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct StepRecord {
    pub head: StepHead,
    /// Boundaries of its slices on the engine's clock, us; empty when it never started.
    pub boundaries_us: Vec<i64>,
    /// Engine clock minus host clock, us.
    pub clock_offset_us: i64,
    /// First and last boundary of the measured part, if the data decided it.
    pub window: Option<(u32, u32)>,
    /// Slices of all sessions between two boundaries, where no window can begin or end.
    pub merged: Merged,
    /// `(session, report)` in order of arrival, of all slices that are not merged.
    pub unmerged: Vec<(u32, SliceReport)>,
    pub series: Vec<Series>,
    /// `(source, boundary, latencies)` that samplers timed in the slice that ended at the boundary.
    pub latencies: Vec<(String, u32, SampledLatencies)>,
    /// `(boundary, processes)` outside the run that used the most CPU in the slice that ended at the boundary.
    pub busiest: Vec<(u32, Vec<ProcessCpu>)>,
    /// Circumstances that its figures depend on, in the order they were read.
    pub watched: Vec<Watched>,
    /// First error of a session.
    pub error: Option<String>,
    pub interrupted: bool,
    pub ended: bool,
    /// The ranks that took it together: all of them, or only the one that this part belongs to; empty for a run of one
    /// process.
    pub ranks: Vec<RankRecord>,
}

impl StepRecord {
    pub fn new(head: StepHead) -> Self {
        Self { merged: Merged::new(head.placements.len()), head, ..Self::default() }
    }

    /// Adds an event of the step; others are passed over.
    pub fn add(&mut self, event: Event) -> Result<(), String> {
        match event {
            Event::Started { boundaries_us, clock_offset_us } => {
                self.boundaries_us = boundaries_us;
                self.clock_offset_us = clock_offset_us;
            }
            // Work that another tool observed has no sessions that come and go.
            Event::Slice { session, report } if self.head.workload.is_none() => self.unmerged.push((session, report)),
            Event::Slice { session, report } => {
                self.merged.add_report(session, report, &self.boundaries_us, &mut self.unmerged)?;
            }
            Event::Source { source, metrics, phase } => {
                self.series.push(Series { source, metrics, phase, readings: Vec::new() });
            }
            Event::Sample { source, boundary, at_us, cost_us, values } => {
                self.read(&source, Reading { boundary, at_us, cost_us, values })?;
            }
            Event::Latencies { source, boundary, sampled } => self.latencies.push((source, boundary, sampled)),
            Event::Busiest { boundary, processes, .. } => self.busiest.push((boundary, processes)),
            Event::Watched(watched) => self.watched.push(watched),
            Event::Rank(rank) => self.ranks.push(rank),
            Event::Spans(spans) => self.merged.begin_merged(spans, self.head.placements.len())?,
            Event::MergedSlice(slice) => {
                self.merged.add_merged(slice, self.boundaries_us.len().saturating_sub(1))?;
            }
            Event::Window { first, last } => self.window = Some((first, last)),
            Event::StepEnd { error, interrupted } => {
                self.error = error;
                self.interrupted = interrupted;
                self.ended = true;
            }
            _ => {}
        }
        Ok(())
    }

    /// Whether it reached its end, with or without an error.
    pub fn finished(&self) -> bool {
        self.ended && !self.interrupted
    }

    /// All reports: first the merged ones, then the others in order of arrival.
    pub fn reports(&self) -> impl Iterator<Item = &SliceReport> {
        let merged = self.merged.slices.iter().map(|merged| &merged.report);
        merged.chain(self.unmerged.iter().map(|(_, report)| report))
    }

    /// `(session, operation)` of each operation that took long.
    pub fn long_ops(&self) -> impl Iterator<Item = (u32, LongOp)> {
        let merged = self.merged.slices.iter().flat_map(|merged| merged.long.iter().copied());
        merged.chain(merged::long(&self.unmerged))
    }

    /// The time of a boundary between slices, us since the epoch; `None` after the last.
    pub fn boundary_us(&self, boundary: u32) -> Option<i64> {
        self.boundaries_us.get(boundary as usize).copied()
    }

    /// Time that sessions were in their slices from boundary `first` to boundary `last`, summed, us: an operation that
    /// crosses a boundary is on both sides of it.
    pub fn occupied_us(&self, first: usize, last: usize) -> i64 {
        let at = |boundary: usize| self.boundaries_us.get(boundary).copied();
        let Some(span) = at(first).zip(at(last)) else { return 0 };
        let apart = self.unmerged.iter().map(|(_, report)| merged::inside_us(report, span));
        apart.fold(self.merged.occupied_us(first, last), i64::saturating_add)
    }

    /// Work time of each session; `None` for a session that never reported.
    pub fn spans(&self) -> Vec<Option<Span>> {
        let mut spans = self.merged.work.spans.clone();
        spans.resize(self.head.placements.len(), None);
        for (session, report) in &self.unmerged {
            if let Some(span) = spans.get_mut(*session as usize) {
                *span = Some(merged::widened(*span, report));
            }
        }
        spans
    }

    fn read(&mut self, source: &str, reading: Reading) -> Result<(), String> {
        let series = self
            .series
            .iter_mut()
            .rev()
            .find(|series| series.source == source)
            .ok_or_else(|| format!("a sample of {source:?}, which did not introduce itself"))?;
        let (reported, known) = (reading.values.len(), series.metrics.len());
        if reported != known {
            return Err(format!("{reported} values for the {known} metrics of {source:?}"));
        }
        series.readings.push(reading);
        Ok(())
    }
}

#[derive(Debug, Clone, PartialEq)]
pub struct Run {
    pub head: RunHead,
    pub environment: Facts,
    pub description: Option<Description>,
    pub host: Option<HostView>,
    pub dataset: Option<Dataset>,
    pub load_s: Option<f64>,
    pub proof: Option<LayoutProof>,
    pub shapes: Vec<AccessPath>,
    pub steps: Vec<StepRecord>,
    pub findings: Vec<Finding>,
    pub notes: Vec<String>,
    /// The user's commands during the steps, in the order in which they ran.
    pub hooks: Vec<HookRecord>,
    pub finished: bool,
    pub interrupted: bool,
    pub error: Option<String>,
    /// Each target as a run of its ranks; empty with one target.
    pub targets: Vec<Run>,
}

impl Run {
    pub fn words(&self) -> Words {
        self.description.as_ref().map_or_else(Words::default, |description| description.words.clone())
    }

    pub fn new(head: RunHead) -> Self {
        Self {
            head,
            environment: Facts::new(),
            description: None,
            host: None,
            dataset: None,
            load_s: None,
            proof: None,
            shapes: Vec::new(),
            steps: Vec::new(),
            findings: Vec::new(),
            notes: Vec::new(),
            hooks: Vec::new(),
            finished: false,
            interrupted: false,
            error: None,
            targets: Vec::new(),
        }
    }
}
