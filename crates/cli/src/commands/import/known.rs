//! Which measurements of other tools the store has already.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use mindful_core::Result;
use mindful_core::contract::event::Event;
use mindful_import::OldRun;
use mindful_record::Store;

/// A stored run of another tool.
struct KnownRun {
    id: String,
    tag: Option<String>,
    target: String,
    /// Digests of its steps' measurements.
    digests: Vec<u64>,
}

pub(super) struct KnownRuns(Vec<KnownRun>);

/// The part of a run that is already in the store.
pub(super) enum Overlap {
    /// All of it, as this run.
    Whole(String),
    /// These files, as steps of other runs.
    Files(Vec<(String, String)>),
}

impl KnownRuns {
    /// The runs of `store`; an unreadable run is not compared.
    pub(super) fn of(store: &Store) -> Result<Self> {
        let known = |id: String| {
            let head = store.head(&id).ok().filter(|head| head.imported.is_some())?;
            let mut events = Vec::new();
            let read = store.each_line(&id, &mut |line| {
                events.extend(serde_json::from_str::<Event>(line).ok());
                Ok(())
            });
            read.ok().map(|()| KnownRun {
                target: head.target.clone(),
                id,
                tag: head.settings.get("tag").map(str::to_owned),
                digests: digests(&events),
            })
        };
        Ok(Self(store.ids()?.into_iter().filter_map(known).collect()))
    }

    /// The part of `old` that is already stored. Another `tag` makes it a new run.
    pub(super) fn overlap(&self, old: &OldRun, tag: Option<&String>) -> Overlap {
        let wanted = digests(&old.events);
        let same_target = || self.0.iter().filter(|run| run.target == old.target);
        let whole = same_target().find(|run| run.digests == wanted && (tag.is_none() || run.tag.as_ref() == tag));
        if let Some(run) = whole {
            return Overlap::Whole(run.id.clone());
        }
        let places: HashMap<u64, &str> =
            same_target().flat_map(|run| run.digests.iter().map(|digest| (*digest, run.id.as_str()))).collect();
        let of_step = |(digest, file): (&u64, &String)| Some((file.clone(), (*places.get(digest)?).to_owned()));
        Overlap::Files(wanted.iter().zip(&old.step_files).filter_map(of_step).collect())
    }
}

/// A digest of each step of `events` from its sessions and measurements, independent of file names.
fn digests(events: &[Event]) -> Vec<u64> {
    let mut steps: Vec<DefaultHasher> = Vec::new();
    for event in events {
        match event {
            Event::Step(head) => {
                let mut step = DefaultHasher::new();
                head.sessions.hash(&mut step);
                steps.push(step);
            }
            Event::Started { .. }
            | Event::Slice { .. }
            | Event::Source { .. }
            | Event::Sample { .. }
            | Event::Latencies { .. } => {
                if let Some((step, text)) = steps.last_mut().zip(serde_json::to_string(event).ok()) {
                    text.hash(step);
                }
            }
            _ => {}
        }
    }
    steps.iter().map(DefaultHasher::finish).collect()
}
