//! Every text that the engine can render, for every shape of a plan.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use mindful_conformance::dataset_plan;
use mindful_core::dataset::{Content, DatasetPlan};
use mindful_core::plan::units::Share;
use mindful_core::workload::{Commit, Compatibility, Redo, ThinkTime, Workload};
use mindful_oracle::names::{Namespace, TableKind};
use mindful_oracle::statement::{self, Storage};

use crate::fake::wire::root;

pub(crate) fn all() -> BTreeMap<String, String> {
    let namespace = Namespace::parse("mindful").unwrap();
    let mut all = BTreeMap::new();
    for (at, text) in statement::create_registry(&namespace).into_iter().enumerate() {
        all.insert(format!("registry_{at}"), text);
    }
    for (name, template) in templates() {
        let table = namespace.table(TableKind::Blocks, 1);
        let names = ["db file sequential read", "log file sync"];
        let quoted = names.map(|name| format!("'{name}'")).join(", ");
        let values = [("registry", &*namespace.registry()), ("table", &*table), ("names", &*quoted)];
        all.insert(name, statement::render(template.trim_end(), &values));
    }
    loads(&namespace, &mut all);
    slices(&namespace, &mut all);
    let [one, other] = [1, 2].map(|schema| namespace.table(TableKind::Blocks, schema));
    all.insert("prove_pair".to_owned(), statement::prove_pair(&one, &other));
    all
}

fn loads(namespace: &Namespace, all: &mut BTreeMap<String, String>) {
    let table = namespace.table(TableKind::Blocks, 1);
    let storages = [
        ("plain", Storage { parallel: 1, ..Storage::default() }),
        ("all", Storage { tablespace: Some("BENCH".to_owned()), nologging: true, parallel: 4 }),
    ];
    let mixed = |compress_ratio| Content::Mixed { compress_ratio, dedupe_ratio: 1.0 };
    for (stored, storage) in &storages {
        all.insert(format!("index_{stored}"), statement::index(&table, storage));
        for (filled, content) in [("random", mixed(1.0)), ("half", mixed(2.0)), ("repeated", Content::Repeated)] {
            for block_bytes in [2_048, 8_192] {
                let plan = DatasetPlan { content, seed: 1, ..dataset_plan(1, 1_000) };
                let layout = statement::layout(&plan, 1_000, 1);
                let text = statement::blocks(&table, &layout, &plan, 1, block_bytes, storage);
                all.insert(format!("blocks_{stored}_{filled}_{block_bytes}"), text);
            }
        }
    }
}

fn slices(namespace: &Namespace, all: &mut BTreeMap<String, String>) {
    let share = |percent: u32| Share::from_hundredths(percent * 100).unwrap();
    let second = Duration::from_secs(1);
    let think = ThinkTime { share: share(10), min: second, max: second, exponential: false };
    let none = Share::NONE;
    for (updates, scans) in [(none, none), (share(20), none), (none, share(10)), (share(20), share(10))] {
        for (thinks, think_time) in [("", None), ("_think", Some(think))] {
            for (major, schemas) in [(12, 1), (19, 1), (19, 3)] {
                let base =
                    Workload { update_pct: updates, scan_pct: scans, think_time, ..Workload::reads_only(3, 1_000, 64) };
                let slots: BTreeSet<u32> = (1..=schemas).collect();
                let its = format!("u{}_s{}{thinks}_{major}_{schemas}", updates.hundredths(), scans.hundredths());
                for (mode, workload) in modes(&base) {
                    all.insert(format!("slice_{its}{mode}"), statement::slice(&workload, &slots, namespace, major));
                }
            }
        }
    }
    let table = namespace.table(TableKind::Blocks, 1);
    for (redo, name) in [(Redo::Light, "light"), (Redo::Heavy, "heavy")] {
        all.insert(format!("update_{name}"), statement::client_update(&table, redo));
        all.insert(format!("explain_{name}"), statement::explain(&statement::client_update(&table, redo)));
    }
    all.insert("explain_select".to_owned(), statement::explain(&statement::client_select(&table)));
    for (mode, workload) in modes(&Workload { update_pct: share(20), ..Workload::reads_only(1, 1_000, 64) }) {
        all.insert(format!("commit{mode}"), statement::client_commit(&workload));
    }
}

/// Workloads by their kind of commit; one without updates.
fn modes(base: &Workload) -> Vec<(&'static str, Workload)> {
    if base.update_pct.is_none() {
        return vec![("", base.clone())];
    }
    let with = |change: fn(&mut Workload)| {
        let mut workload = base.clone();
        change(&mut workload);
        workload
    };
    vec![
        ("_each", base.clone()),
        ("_heavy", with(|workload| workload.redo = Redo::Heavy)),
        ("_every", with(|workload| workload.commit = Commit::Every(7))),
        ("_slice", with(|workload| workload.commit = Commit::Slice)),
        ("_nowait", with(|workload| workload.commit_wait = false)),
        ("_slob", with(|workload| workload.compatibility = Compatibility::Slob)),
    ]
}

/// The files of `sql` that are a text of their own, or one with the name of a table: each by its own name.
pub(crate) fn templates() -> BTreeMap<String, String> {
    let folders = ["client", "counters", "describe", "load", "lock", "verify"].map(|name| root().join(SQL).join(name));
    let files = folders.iter().flat_map(|folder| fs::read_dir(folder).unwrap());
    let texts = files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap());
    let plain = |text: &str| {
        ["{registry}", "{table}", "{names}"].iter().fold(text.to_owned(), |text, name| text.replace(name, ""))
    };
    let templates = texts.filter(|text| !plain(text).contains('{'));
    templates.filter_map(|text| Some((statement::name(&text)?.to_owned(), text))).collect()
}

const SQL: &str = "engines/oracle/sql";
