//! Every metric of a run has its row in docs/metrics.md.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::house::text;
use crate::mindful::Mindful;

/// A metric as the page shows it: with general names for devices and CPUs of this host.
pub(crate) fn row(source: &str, metric: &Value) -> String {
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
    let page = text("docs/metrics.md");
    let documented: BTreeSet<&str> = page.lines().collect();
    let mindful = Mindful::new();
    let mut seen = 0;
    for target in ["null:", "sqlite:metrics.db", "raw:metrics.blocks --update-pct 50 --fsync 1"] {
        let small = "--scale 4MiB --schemas 1 --work-unit 1 --warmup 0s --duration 500ms";
        // A busy machine may shorten the window and so make the run invalid; its metrics are still stored.
        mindful.text(format!("run --target {target} {small}"));
        for source in mindful.events().iter().filter(|event| event["event"] == "source") {
            let name = source["source"].as_str().unwrap();
            for metric in source["metrics"].as_array().unwrap() {
                let row = row(name, metric);
                assert!(documented.contains(row.as_str()), "docs/metrics.md lacks, for {name}:\n{row}");
                seen += 1;
            }
        }
    }
    assert!(seen > 30, "{seen} metrics were recorded");
}
