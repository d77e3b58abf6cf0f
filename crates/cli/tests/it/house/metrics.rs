//! Every metric that a run tells has its row in docs/metrics.md.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

/// All that happened in a short run on `target`, line by line.
fn events(store: &Path, target: &str) -> Vec<Value> {
    let run = ["run", "--target", target, "--scale", "4MiB", "--schemas", "1", "--work-unit", "1"];
    let short = ["--warmup", "0s", "--duration", "500ms", "--format", "json"];
    let mindful = || {
        let mut command = Command::new(env!("CARGO_BIN_EXE_mindful"));
        command.current_dir(store).env("MINDFUL_STORE", store).stdin(Stdio::null());
        command
    };
    let ran = mindful().args(run).args(short).output().unwrap();
    // A busy machine may shorten the window and so make the run invalid; its metrics are reported all the same.
    assert!(matches!(ran.status.code(), Some(0 | 1)), "{target}: {}", String::from_utf8_lossy(&ran.stderr));
    let exported = mindful().args(["export", "latest", "--as", "jsonl"]).output().unwrap();
    let text = String::from_utf8(exported.stdout).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A metric as it stands on the page: devices and CPUs of this host by a name that stands for all.
pub fn row(source: &str, metric: &Value) -> String {
    let text = |key: &str| metric[key].as_str().unwrap().to_owned();
    let mut name = text("name");
    if ["diskstats", "cgroup", "volume_caps"].contains(&source) && name.contains('.') {
        name = format!("DEVICE.{}", name.rsplit('.').next().unwrap());
    }
    if source == "network" {
        name = format!("INTERFACE.{}", name.rsplit('.').next().unwrap());
    }
    if let Some(cpu) = name.strip_prefix("cpu").and_then(|rest| rest.strip_suffix("_busy"))
        && cpu.parse::<u32>().is_ok()
    {
        "cpuN_busy".clone_into(&mut name);
    }
    format!("| `{name}` | {} | {} | {} |", text("unit"), text("kind"), text("help"))
}

#[test]
fn every_metric_of_a_run_is_on_the_page() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/metrics.md");
    let page = std::fs::read_to_string(page).unwrap();
    let documented: BTreeSet<&str> = page.lines().collect();
    let store = tempfile::tempdir().unwrap();
    let mut seen = 0;
    for target in ["null:", "sqlite:metrics.db", "raw:metrics.blocks"] {
        let events = events(store.path(), target);
        for source in events.iter().filter(|event| event["event"] == "source") {
            let name = source["source"].as_str().unwrap();
            for metric in source["metrics"].as_array().unwrap() {
                let row = row(name, metric);
                assert!(documented.contains(row.as_str()), "docs/metrics.md lacks, for {name}:\n{row}");
                seen += 1;
            }
        }
    }
    assert!(seen > 30, "{seen} metrics were reported");
}
