//! Results of Orion: its summary, its matrices of IOPS, latency and MBPS, and its terminal output.
//!
//! One run of Orion leaves several files, and one file may contain several runs. So a file yields parts of runs, and
//! the parts of a run become steps after all files are read: a rate from one file and a latency from another are one
//! point.

mod consistency;
pub(crate) mod part;
mod read;
mod to_run;

use std::collections::BTreeMap;

use mindful_core::Error;

use super::format::Format;
use crate::input;
use crate::old_step::OldStep;

pub use part::LatencyUnit;
use part::OrionPart;

const WHAT: &str = "Orion result";

pub(super) static ORION: Format = Format {
    what: WHAT,
    recognises: read::recognises,
    read: |name, input| {
        let parts = read::parts(name, &input::text(name, input)?)?;
        let step = |part| OldStep { orion: Some(Box::new(part)), ..OldStep::new(name, WHAT, "raw", "orion") };
        Ok(parts.into_iter().map(step).collect())
    },
    waits: None,
};

/// Removes the parts of Orion's runs from `steps`; returns the steps of these runs, and the errors.
pub(crate) fn join(steps: &mut Vec<OldStep>, unit: Option<LatencyUnit>) -> (Vec<OldStep>, Vec<Error>) {
    let mut runs: BTreeMap<String, Vec<(String, Box<OrionPart>)>> = BTreeMap::new();
    steps.retain_mut(|step| {
        let Some(mut part) = step.orion.take() else { return true };
        part.findings.append(&mut step.findings);
        runs.entry(part.run.clone()).or_default().push((step.file.clone(), part));
        false
    });
    let (mut joined, mut refused) = (Vec::new(), Vec::new());
    for parts in runs.into_values() {
        let (mut files, parts): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        files.dedup();
        match to_run::steps(&files, &parts.iter().map(Box::as_ref).collect::<Vec<_>>(), unit) {
            Ok(steps) => joined.extend(steps),
            Err(error) => refused.push(error),
        }
    }
    (joined, refused)
}
