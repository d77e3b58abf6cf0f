//! Whether runs may be compared with each other: the facts that must be alike.

use std::collections::{BTreeMap, BTreeSet};

use mindful_core::contract::fact::{Fact, chosen_setting};
use mindful_core::plan::units;
use mindful_core::record::run::Run;
pub use mindful_core::result::comparison::Difference;
use mindful_core::workload::Workload;

use crate::commit_contrast::WAY;
use crate::contrast::LEVEL;

/// The facts in which baseline and candidate differ and which a comparison must hold fixed.
pub(crate) fn differences(sides: [&[&Run]; 2]) -> Vec<Difference> {
    differences_of(facts, sides)
}

/// Differing circumstances of the sides: settings, versions, targets and hosts. They are reported, but do not prevent a
/// comparison.
pub(crate) fn circumstances(sides: [&[&Run]; 2]) -> Vec<Difference> {
    differences_of(circumstances_of, sides)
}

fn differences_of(facts: fn(&Run) -> Vec<(&str, String)>, sides: [&[&Run]; 2]) -> Vec<Difference> {
    let facts = sides.map(|runs| runs.iter().flat_map(|run| facts(run)).collect::<Vec<_>>());
    let borrowed = facts.each_ref().map(|facts| facts.iter().map(|(name, value)| (*name, value.as_str())));
    let difference = |(fact, values): (&str, Vec<BTreeSet<&str>>)| {
        let side = |at: usize| values[at].iter().copied().map(str::to_owned).collect();
        Difference { fact: fact.to_owned(), baseline: side(0), candidate: side(1) }
    };
    differing(borrowed).into_iter().map(difference).collect()
}

/// The facts of `groups` that differ, by name, each with its values in each group.
pub(super) fn differing<'a, G>(groups: impl IntoIterator<Item = G>) -> Vec<(&'a str, Vec<BTreeSet<&'a str>>)>
where
    G: Iterator<Item = (&'a str, &'a str)>,
{
    let groups: Vec<G> = groups.into_iter().collect();
    let (count, mut rows) = (groups.len(), BTreeMap::new());
    for (at, group) in groups.into_iter().enumerate() {
        for (name, value) in group {
            rows.entry(name).or_insert_with(|| vec![BTreeSet::new(); count])[at].insert(value);
        }
    }
    rows.into_iter().filter(|(_, row)| row.iter().any(|values| *values != row[0])).collect()
}

/// The machine that determines the figures of `run`, the host of the server; `None` if unknown.
pub fn machine(run: &Run) -> Option<String> {
    let remote = run.host.as_ref().is_some_and(|view| !view.local);
    if !remote {
        return Fact::HostName.find(&run.environment).cloned();
    }
    let (_, address) = run.head.target.split_once("://")?;
    let hosts = address.split(['/', '?']).next()?;
    hosts.rsplit('@').next().filter(|host| !host.is_empty()).map(str::to_owned)
}

/// Facts that affect a result and that a comparison must hold fixed. The keys that a sweep varies are matched point by
/// point.
fn facts(run: &Run) -> Vec<(&str, String)> {
    let mut facts = measured(run);
    if let Some(description) = &run.description {
        if let Some(bytes) = description.cache_bytes {
            facts.push(("database cache", units::format_bytes(bytes)));
        }
        for (name, decides) in &description.held_fixed {
            if let Some(value) = description.facts.get(name) {
                facts.push((decides, format!("{name}={value}")));
            }
        }
    }
    for fact in [Fact::StorageDevice, Fact::StorageFilesystem, Fact::CpuModel, Fact::CpuCount] {
        if let Some(value) = fact.find(&run.environment) {
            facts.push((fact.name(), value.clone()));
        }
    }
    for step in run.steps.iter().filter(|step| step.head.point.is_plain() && step.head.session_count() > 0) {
        facts.push(("sessions", step.head.session_count().to_string()));
    }
    facts
}

/// Facts about the workload, independent of the platform: sides that differ here have no common rank.
pub(crate) fn measured(run: &Run) -> Vec<(&str, String)> {
    let mut facts = vec![("engine", run.head.engine.clone())];
    facts.push(("figures", figures_of(run).to_owned()));
    if let Some(description) = run.description.as_ref().filter(|description| description.block_bytes > 0) {
        facts.push(("block size", description.block_bytes.to_string()));
    }
    if let Some(dataset) = &run.dataset {
        facts.push(("content", dataset.content.to_string()));
    }
    facts.extend(worked(run));
    facts
}

/// How the figures of a run were made.
fn figures_of(run: &Run) -> &str {
    let varies = |key: &str| run.steps.iter().any(|step| step.head.point.values.contains_key(key));
    match &run.head.imported {
        Some(imported) => &imported.what,
        None if varies(LEVEL) => "contrast with raw reads",
        None if varies(WAY) => "contrast of commits",
        None => "measured by mindful",
    }
}

/// The work of the steps; of a sweep what all steps have in common.
fn worked(run: &Run) -> Vec<(&'static str, String)> {
    let mut steps = run.steps.iter().filter_map(|step| Some((step, step.head.workload.as_ref()?)));
    let Some((first, workload)) = steps.next() else { return Vec::new() };
    let mut facts = facts_of_work(workload);
    for (step, workload) in steps {
        let others = facts_of_work(workload);
        if first.head.point.is_plain() && step.head.point.is_plain() {
            facts.extend(others);
        } else {
            facts.retain(|fact| others.contains(fact));
        }
    }
    facts
}

fn facts_of_work(w: &Workload) -> Vec<(&'static str, String)> {
    let schemas = units::format_counted(w.schemas, "schema");
    let mut facts = vec![
        ("active set", format!("{schemas} of {}", units::format_counted(w.scale, "block"))),
        ("work unit", format!("{}, updates {}", w.work_unit, w.update_work_unit)),
        ("mix", format!("{} % updates, {} % scans", w.update_pct.percent(), w.scan_pct.percent())),
        ("access path", w.access.to_string()),
    ];
    facts.extend(choices(w));
    facts
}

/// Facts that change from one run to the next, or that repeat another one.
const VOLATILE: [&str; 5] = ["stored_blocks", "server_version_num", "log_band_heavy", "log_band_light", "log_image"];

fn is_volatile(name: &str) -> bool {
    let endings = [".available_bytes", "free_bytes", "used_bytes", ".frequency_mhz"];
    // The cost of a cached run is a figure, not a circumstance.
    let is_figure = name.starts_with("cached.");
    is_figure
        || VOLATILE.contains(&name)
        || chosen_setting(name).is_some()
        || endings.iter().any(|ending| name.ends_with(ending))
}

/// Facts of a host that [`facts`] or [`circumstances_of`] has under another name.
const RENAMED: [Fact; 6] =
    [Fact::HostName, Fact::StoragePath, Fact::StorageDevice, Fact::StorageFilesystem, Fact::CpuModel, Fact::CpuCount];

/// Keys of a plan that name a run, or have their effect among the facts of the server.
const NOT_COMPARED: [&str; 5] = ["tag", "price", "set", "target", "sessions"];

/// All known circumstances of a run, beyond [`facts`].
fn circumstances_of(run: &Run) -> Vec<(&str, String)> {
    let mut all = vec![("target", run.head.target.clone()), ("mindful version", run.head.mindful_version.clone())];
    all.extend(run.description.as_ref().map(|described| ("version", described.engine_version.clone())));
    for (name, fact) in [("data directory", Fact::StoragePath), ("host", Fact::HostName)] {
        all.extend(fact.find(&run.environment).map(|value| (name, value.clone())));
    }
    let described = run.description.as_ref();
    let held = |name: &str| described.is_some_and(|described| described.held_fixed.contains_key(name));
    let settings = described.iter().flat_map(|described| &described.facts).filter(|(name, _)| !held(name));
    let facts =
        settings.chain(&run.environment).filter(|(name, _)| !RENAMED.iter().any(|fact| fact.name() == name.as_str()));
    let stable = facts.filter(|(name, _)| !is_volatile(name));
    all.extend(stable.map(|(name, value)| (name.as_str(), value.clone())));
    let swept = |key: &str| run.steps.iter().any(|step| step.head.point.values.contains_key(key));
    let keys = run.head.settings.iter().filter(|(key, _)| !NOT_COMPARED.contains(key) && !swept(key));
    all.extend(keys.map(|(key, setting)| (key, setting.value.clone())));
    all
}

/// System settings that differ between `baseline` and `candidate`, if nothing else differs and none of them can affect
/// the access path. Empty otherwise.
pub(crate) fn idle_settings(sides: [&[&Run]; 2]) -> Vec<String> {
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

#[derive(Debug, Clone)]
pub(crate) struct RunFacts([Vec<(String, String)>; 2]);

impl RunFacts {
    pub(crate) fn from_run(run: &Run) -> Self {
        let owned = |(name, value): (&str, String)| (name.to_owned(), value);
        Self([facts(run), circumstances_of(run)].map(|facts| facts.into_iter().map(owned).collect()))
    }

    fn of_kind(&self, kind: usize) -> impl Iterator<Item = (&str, &str)> {
        self.0[kind].iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// All of them by name, with all values of the run.
    pub(crate) fn by_name(&self) -> BTreeMap<&str, String> {
        let mut all: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for (name, value) in self.0.iter().flatten() {
            all.entry(name).or_default().insert(value);
        }
        all.into_iter().map(|(name, values)| (name, joined(&values))).collect()
    }
}

fn joined(values: &BTreeSet<&str>) -> String {
    values.iter().copied().collect::<Vec<_>>().join(" / ")
}

/// Differences between groups of runs: each fact that affects the figure, then [`circumstances`], with the value in
/// each group (`None` if unknown).
pub fn all_differences(groups: &[&[Run]]) -> Vec<(String, Vec<Option<String>>)> {
    let facts: Vec<Vec<RunFacts>> = groups.iter().map(|runs| runs.iter().map(RunFacts::from_run).collect()).collect();
    differences_among(&facts.iter().map(|facts| facts.iter().collect()).collect::<Vec<_>>())
}

/// Like [`all_differences`], for facts that are already collected.
pub(crate) fn differences_among(groups: &[Vec<&RunFacts>]) -> Vec<(String, Vec<Option<String>>)> {
    let of_kind = |kind| differing(groups.iter().map(|group| group.iter().flat_map(move |facts| facts.of_kind(kind))));
    let known = |values: &BTreeSet<&str>| (!values.is_empty()).then(|| joined(values));
    let rows = (0..2).flat_map(of_kind);
    rows.map(|(name, row)| (name.to_owned(), row.iter().map(known).collect())).collect()
}

fn choices(w: &Workload) -> [(&'static str, String); 4] {
    let think = w.think_time.map_or_else(|| "no think time".to_owned(), |think| format!("think time {think}"));
    let rate = w.rate.map_or_else(|| "no rate".to_owned(), |rate| format!("rate {rate}"));
    let wait = if w.commit_wait { "on" } else { "off" };
    [
        ("spread of keys", spread(w)),
        ("loop", format!("{}, {think}, {rate}", w.loop_site)),
        ("redo and commit", format!("redo {}, commit {}, commit wait {wait}", w.redo, w.commit)),
        ("arithmetic", w.compatibility.to_string()),
    ]
}

fn spread(w: &Workload) -> String {
    let hot_spot = w.hot_spot.map_or_else(
        || "no hot spot".to_owned(),
        |h| format!("hot spot of {} blocks from {} with {} %", h.blocks, h.offset, h.share.percent()),
    );
    format!("{}, {hot_spot}, hot schema {} %", w.skew, w.hot_schema.percent())
}

#[cfg(test)]
mod tests {
    use mindful_core::dataset::Dataset;
    use mindful_core::plan::settings::{Origin, Settings};
    use mindful_core::plan::{KEYS, Plan};

    use super::*;

    #[test]
    fn facts_are_reported_as_a_plan_writes_them() {
        let mut settings = Settings::defaults(KEYS);
        for (name, value) in [("target", "null:"), ("skew", "hotset:20%,80%"), ("think_time", "20%:10ms..50ms")] {
            settings.set(name, value, Origin::Default);
        }
        for (name, value) in [("rate", "even:5000"), ("loop", "client"), ("commit", "16"), ("redo", "heavy")] {
            settings.set(name, value, Origin::Default);
        }
        settings.set("hot_spot_size", "1MiB", Origin::Default);
        let plan = Plan::from_settings(&settings).unwrap();
        let dataset = Dataset {
            schemas: 4,
            blocks_per_schema: 1024,
            scan_blocks: 0,
            block_bytes: 8192,
            bytes: 0,
            index_bytes: None,
            seed: 1,
            content: plan.content,
        };
        let w = plan.workload(&dataset).unwrap();
        let reported: Vec<_> = choices(&w).into_iter().map(|(_, value)| value).collect();
        assert_eq!(
            reported,
            [
                "hotset:20%,80%, hot spot of 128 blocks from 0 with 33.33 %, hot schema 0 %",
                "client, think time 20%:10ms..50ms, rate even:5000",
                "redo heavy, commit 16, commit wait on",
                "mindful",
            ]
        );
        assert_eq!(dataset.content.to_string(), "mixed, compress ratio 1, dedupe ratio 1");
    }

    #[test]
    fn a_figure_missing_on_one_side_is_reported_as_unknown() {
        let difference =
            Difference { fact: "cpu.count".to_owned(), baseline: Vec::new(), candidate: vec!["2".to_owned()] };
        assert_eq!(difference.sides(), "not known against 2");
    }
}
