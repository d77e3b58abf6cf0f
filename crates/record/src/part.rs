//! One rank's part as bytes for the first rank: the lines of its step, compressed.

use std::fmt::Display;
use std::io::{BufRead, BufReader, Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use mindful_core::contract::event::Event;
use mindful_core::record::run::{Run, StepRecord};
use mindful_core::{Error, Result};

use crate::fold::Fold;

const LONGEST: u64 = 1 << 30;

#[derive(Debug)]
pub struct Part {
    pub step: StepRecord,
    /// The run without its steps, if the rank managed a target of its own.
    pub lead: Option<Run>,
}

/// The part as bytes.
pub fn pack(part: &Part) -> Result<Vec<u8>> {
    let mut bytes = DeflateEncoder::new(Vec::new(), Compression::fast());
    let lead = part.lead.iter().flat_map(|run| std::iter::once(Event::Head(run.head.clone())).chain(events(run)));
    let head = std::iter::once(Event::Step(part.step.head.clone()));
    for event in lead.chain(head).chain(part.step.to_events()) {
        let mut line = serde_json::to_vec(&event).map_err(|error| broken(&error))?;
        line.push(b'\n');
        bytes.write_all(&line).map_err(|error| broken(&error))?;
    }
    bytes.finish().map_err(|error| broken(&error))
}

/// The part in `bytes`.
pub fn unpack(bytes: &[u8]) -> Result<Part> {
    let mut lines = BufReader::new(DeflateDecoder::new(bytes).take(LONGEST)).split(b'\n');
    let mut next = || {
        let line = lines.next().transpose().map_err(|error| broken(&error))?;
        line.map(|line| serde_json::from_slice::<Event>(&line).map_err(|error| broken(&error))).transpose()
    };
    let (mut lead, mut step): (Option<Fold>, Option<StepRecord>) = (None, None);
    while let Some(event) = next()? {
        match (event, &mut step, &mut lead) {
            (Event::Head(head), None, None) => lead = Some(Fold::new(head)),
            (Event::Step(head), None, _) => step = Some(StepRecord::new(head)),
            (event, Some(step), _) => step.add(event).map_err(|why| broken(&why))?,
            (event, None, Some(lead)) => lead.add(event).map_err(|why| broken(&why))?,
            (_, None, None) => return Err(broken(&"it does not begin with a step")),
        }
    }
    match step.filter(|step| step.ended) {
        Some(step) => Ok(Part { step, lead: lead.map(Fold::into_part) }),
        None => Err(broken(&"it has no end")),
    }
}

fn broken(why: &dyn Display) -> Error {
    Error::run(format!("the data of a rank is corrupt: {why}"), "run again; if it happens again, please report it")
}

/// Events that reproduce a run, without its head and its end.
pub fn events(run: &Run) -> impl Iterator<Item = Event> + '_ {
    let of_targets = (0..).zip(&run.targets).flat_map(|(target, run)| {
        let end = Event::Finished { interrupted: run.interrupted, error: run.error.clone() };
        let all = std::iter::once(Event::Head(run.head.clone())).chain(alone(run)).chain([end]);
        all.map(move |what| Event::OnTarget { target, what: Box::new(what) })
    });
    alone(run).chain(of_targets)
}

/// Events of a run, without those of several targets.
fn alone(run: &Run) -> impl Iterator<Item = Event> + '_ {
    let described = run.description.clone().zip(run.host.clone());
    let environment = std::iter::once(Event::Environment { facts: run.environment.clone() });
    environment
        .chain(described.map(|(description, host)| Event::Described { description, host }))
        .chain(run.dataset.clone().map(|dataset| Event::Loaded { dataset, load_s: run.load_s }))
        .chain(run.proof.clone().map(|proof| Event::Proven { proof }))
        .chain(std::iter::once(Event::Shapes { shapes: run.shapes.clone() }))
        .chain(run.findings.iter().cloned().map(Event::Finding))
        .chain(run.notes.iter().map(|text| Event::Note { text: text.clone() }))
        .chain(run.hooks.iter().cloned().map(Event::Hook))
        .chain(
            run.steps.iter().flat_map(|step| std::iter::once(Event::Step(step.head.clone())).chain(step.to_events())),
        )
}
