//! Whether the sides of a comparison differ in nothing that could matter.

use std::collections::{BTreeMap, BTreeSet};

use mindful_core::contract::fact::chosen_setting;
use mindful_core::record::run::Run;

use super::comparable::differences;

/// System settings that differ between `baseline` and `candidate`, if nothing else differs and none of them can affect
/// the access path. Empty otherwise.
pub(crate) fn settings(baseline: &[Run], candidate: &[Run]) -> Vec<String> {
    let both = || baseline.iter().chain(candidate);
    if !differences(baseline, candidate).is_empty() || both().any(|run| !one_path(run)) {
        return Vec::new();
    }
    let (a, b) = (facts(baseline), facts(candidate));
    let names: BTreeSet<_> = a.keys().chain(b.keys()).collect();
    let differing: BTreeSet<&str> =
        names.into_iter().filter(|name| a.get(*name) != b.get(*name)).map(|name| bare(name)).collect();
    let idle = differing.iter().all(|name| both().all(|run| is_idle(run, name)));
    if idle { differing.into_iter().map(str::to_owned).collect() } else { Vec::new() }
}

/// Whether all steps reached their blocks as the run's first check shows.
fn one_path(run: &Run) -> bool {
    let mut paths = run.steps.iter().map(|step| step.head.workload.as_ref().map(|w| (w.access, w.scan_pct.is_none())));
    let first = paths.next();
    paths.all(|path| Some(path) == first)
}

fn facts(runs: &[Run]) -> BTreeMap<String, BTreeSet<String>> {
    let mut all: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (name, value) in runs.iter().filter_map(|run| run.description.as_ref()).flat_map(|found| &found.facts) {
        all.entry(name.clone()).or_default().insert(value.clone());
    }
    all
}

fn bare(name: &str) -> &str {
    chosen_setting(name).unwrap_or(name)
}

/// Whether `setting` cannot matter for any kind of operation of `run`.
fn is_idle(run: &Run, setting: &str) -> bool {
    !run.shapes.is_empty() && run.shapes.iter().all(|shape| shape.idle_settings.iter().any(|name| name == setting))
}
