//! The content of a file, as tests use it.

use std::collections::BTreeMap;
use std::io::Cursor;

use mindful_core::contract::event::Event;
use mindful_core::contract::metric::Counter;
use mindful_core::contract::slice::OpReport;
use mindful_core::record::latency::{Latency, wait_kind};
use mindful_core::workload::OpKind;
use mindful_import::rows::{Figures, ReportRow, figures};
use mindful_import::{OldRun, OldStep, recognised};

/// The steps in the file `name`, or the error of reading it.
pub(crate) fn read(name: &str, text: impl Into<Vec<u8>>) -> mindful_core::Result<Vec<OldStep>> {
    recognised(name, Box::new(Cursor::new(text.into())))?.read()
}

/// The only step in the file `name`, or the first.
pub(crate) fn one(name: &str, text: impl Into<Vec<u8>>) -> OldStep {
    read(name, text).unwrap_or_else(|error| panic!("{name}: {error}")).remove(0)
}

/// The row of a report's step.
pub(crate) fn of(step: &OldStep) -> Figures {
    figures(ReportRow::of(step).unwrap())
}

/// How long reads of one block took, by the histogram of a report.
pub(crate) fn read_latencies(step: &OldStep) -> Option<Latency> {
    step.events.iter().find_map(|event| match event {
        Event::Latencies { sampled, .. } => sampled.kinds.get(wait_kind::READ).cloned(),
        _ => None,
    })
}

/// The runs that are made of `steps`, none of which is refused.
pub(crate) fn runs(steps: Vec<OldStep>) -> Vec<OldRun> {
    let (runs, refused) = mindful_import::runs(steps, None);
    assert!(refused.is_empty(), "{refused:?}");
    runs
}

pub(crate) fn runs_of(files: &[(&str, &str)]) -> Vec<OldRun> {
    runs(files.iter().flat_map(|(name, text)| read(name, *text).unwrap()).collect())
}

/// The steps of the only run that is made of `files`.
pub(crate) fn steps_in(files: &[(&str, &str)]) -> Vec<Seen> {
    let [run] = &runs_of(files)[..] else { panic!("one run") };
    steps_of(run)
}

/// The same as texts.
pub(crate) fn shown(files: &[(&str, &str)]) -> Vec<String> {
    steps_in(files).iter().map(Seen::text).collect()
}

pub(crate) fn steps_of(run: &OldRun) -> Vec<Seen> {
    let mut steps: Vec<Seen> = Vec::new();
    for event in &run.events {
        if let Event::Step(head) = event {
            steps.push(Seen { sessions: head.sessions, values: head.point.values.clone(), events: Vec::new() });
        } else if let Some(step) = steps.last_mut() {
            step.events.push(event.clone());
        }
    }
    steps
}

#[derive(Debug)]
pub(crate) struct Seen {
    pub sessions: Option<u32>,
    pub values: BTreeMap<String, String>,
    pub events: Vec<Event>,
}

impl Seen {
    pub(crate) fn seconds(&self) -> f64 {
        seconds(&self.events)
    }

    pub(crate) fn per_s(&self, counter: Counter) -> Option<f64> {
        Some(grew(&self.events, counter)? / self.seconds())
    }

    pub(crate) fn mean_us(&self) -> Option<f64> {
        Some(grew(&self.events, Counter::SingleReadTimeUs)? / grew(&self.events, Counter::SingleReads)?)
    }

    /// Its load, its rates per second and the mean of its reads, such as `4 sessions: 160 reads, 55 us`, as far as known.
    pub(crate) fn text(&self) -> String {
        let rates = [
            (Counter::ReadRequests, "reads"),
            (Counter::WriteRequests, "writes"),
            (Counter::PhysicalReads, "blocks"),
            (Counter::DeviceReadBytes, "bytes"),
        ];
        let rates = rates.into_iter().filter_map(|(counter, name)| Some((self.per_s(counter)?, name)));
        let figures = rates.chain(self.mean_us().map(|us| (us, "us")));
        let figures: Vec<_> =
            figures.map(|(figure, name)| format!("{} {name}", (figure * 1e3).round() / 1e3)).collect();
        let sessions = self.sessions.map_or_else(|| "?".to_owned(), |sessions| sessions.to_string());
        let size = self.values.get("block_size").map_or_else(String::new, |size| format!(" of {size}"));
        format!("{sessions} sessions{size}: {}", figures.join(", "))
    }
}

/// The length of each slice, us, and its reads.
pub(crate) fn slices(events: &[Event]) -> Vec<(i64, OpReport)> {
    let slices =
        events.iter().filter_map(|event| if let Event::Slice { report, .. } = event { Some(report) } else { None });
    slices.map(|slice| (slice.end_us - slice.begin_us, slice.op(OpKind::Select).clone())).collect()
}

/// From the first boundary to the last, s.
pub(crate) fn seconds(events: &[Event]) -> f64 {
    let boundaries = events.iter().find_map(|event| match event {
        Event::Started { boundaries_us, .. } => Some(boundaries_us),
        _ => None,
    });
    let boundaries = boundaries.expect("it started");
    (boundaries[boundaries.len() - 1] - boundaries[0]) as f64 / 1e6
}

pub(crate) fn grew(events: &[Event], counter: Counter) -> Option<f64> {
    let (source, at) = events.iter().find_map(|event| match event {
        Event::Source { source, metrics, .. } => {
            Some((source, metrics.iter().position(|metric| metric.name == counter.name())?))
        }
        _ => None,
    })?;
    events.iter().rev().find_map(|event| match event {
        Event::Sample { source: of, values, .. } if of == source => Some(values[at]),
        _ => None,
    })?
}
