//! Whether the sides of a comparison differ in nothing that could matter.

use std::collections::BTreeSet;

use mindful_core::contract::fact::chosen_setting;
use mindful_core::record::run::Run;

use super::comparable::{differences, differing};

/// System settings that differ between `baseline` and `candidate`, if nothing else differs and none of them can affect
/// the access path. Empty otherwise.
pub(crate) fn settings(sides: [&[&Run]; 2]) -> Vec<String> {
    let both = || sides.into_iter().flatten();
    if !differences(sides).is_empty() || both().any(|run| !one_path(run)) {
        return Vec::new();
    }
    let described = sides.map(|runs| runs.iter().filter_map(|run| run.description.as_ref()));
    let facts = described.map(|all| all.flat_map(|found| &found.facts).map(|(name, value)| (&**name, &**value)));
    let differing: BTreeSet<&str> =
        differing(facts).into_iter().map(|(name, _)| chosen_setting(name).unwrap_or(name)).collect();
    let idle = differing.iter().all(|name| both().all(|run| is_idle(run, name)));
    if idle { differing.into_iter().map(str::to_owned).collect() } else { Vec::new() }
}

/// Whether all steps reached their blocks as the run's first check shows.
fn one_path(run: &Run) -> bool {
    let mut paths = run.steps.iter().map(|step| step.head.workload.as_ref().map(|w| (w.access, w.scan_pct.is_none())));
    let first = paths.next();
    paths.all(|path| Some(path) == first)
}

/// Whether `setting` cannot matter for any kind of operation of `run`.
fn is_idle(run: &Run, setting: &str) -> bool {
    !run.shapes.is_empty() && run.shapes.iter().all(|shape| shape.idle_settings.iter().any(|name| name == setting))
}
