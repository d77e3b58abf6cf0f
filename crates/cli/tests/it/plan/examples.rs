//! Every example plan resolves and shows its command; those without I/O run.

use std::path::{Path, PathBuf};

use crate::mindful::{Mindful, figure};

fn of_project(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path).canonicalize().unwrap()
}

fn examples() -> PathBuf {
    of_project("examples")
}

/// The plan of an engine that is in no build by default is next to the engine.
fn of_features() -> Option<PathBuf> {
    cfg!(feature = "oracle").then(|| of_project("engines/oracle/example.toml"))
}

fn plans() -> Vec<PathBuf> {
    let entries = std::fs::read_dir(examples()).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect()
}

#[test]
fn every_example_resolves_and_shows_the_command_that_runs_it() {
    let mindful = Mindful::new();
    assert!(plans().len() >= 12, "{:?}", plans());
    for plan in plans().into_iter().chain(of_features()) {
        let value = mindful.json(("plan --plan", &plan));
        let text = std::fs::read_to_string(&plan).unwrap();
        let name = plan.strip_prefix(of_project("")).unwrap().to_str().unwrap();
        assert!(text.contains(&format!("--plan {name}")), "{name} does not show its command");
        // The plan contains every key of the file.
        for (key, _) in text.parse::<toml::Table>().unwrap() {
            let origin = value["settings"][&key]["origin"].to_string();
            assert!(origin.contains(name), "{name}: {key} comes from {origin}");
        }
    }
}

#[test]
fn the_example_without_io_runs() {
    let mindful = Mindful::new();
    let summary = mindful.json(("run --plan", examples().join("null.toml")));
    assert!(figure(&summary["steps"][0]["ops"]["update"], "count") > 0.0, "{summary:#}");
}

#[test]
fn the_example_of_hooks_stores_the_output_of_each() {
    let mindful = Mindful::new();
    let summary = mindful.json(("run --warmup 200ms --duration 1s --plan", examples().join("hooks.toml")));
    let folder = mindful.run_folder(&summary);
    for phase in ["before", "after", "end"] {
        let said = std::fs::read_to_string(folder.join(format!("hook-{phase}.out"))).unwrap();
        assert!(!said.trim().is_empty(), "hook {phase} said nothing");
    }
}
