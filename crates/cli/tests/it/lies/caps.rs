//! Limits of a volume, an instance or a control group, taken for the ability of the storage.

use std::fmt::Write as _;

use mindful_conformance::place;
use serde_json::{Value, json};

use crate::lies::control_group::ControlGroup;
use crate::mindful::report::{Report, retried};
use crate::mindful::users_server::UsersServer;
use crate::mindful::{Mindful, unwrapped};

/// The record of a run with made-up readings of an Amazon volume: us a second over its limit of IOPS and over the
/// instance's limit of throughput.
fn recorded(mindful: &Mindful, over_us: [Option<f64>; 2]) -> Report {
    let made = mindful.short_run("--target null: --null-latency 1ms --duration 4s");
    let id = made.id();
    let path = mindful.run_folder(&made.run).join("run.jsonl");
    let metric = |name: &str| json!({"name": name, "unit": "us", "kind": "counter", "help": ""});
    let limits = [metric("nvme1n1.over_volume_iops"), metric("nvme1n1.over_instance_bytes")];
    let mut text = String::new();
    for line in std::fs::read_to_string(&path).unwrap().lines() {
        let mut event: Value = serde_json::from_str(line).unwrap();
        writeln!(text, "{line}").unwrap();
        if event["source"] != "client" {
            continue;
        }
        event["source"] = "volume_caps".into();
        if event["event"] == "source" {
            event["metrics"] = json!(limits);
        } else {
            let boundary = event["boundary"].as_f64().unwrap();
            event["values"] = json!(over_us.map(|us| us.map(|us| 1e9 + us * boundary)));
        }
        writeln!(text, "{event}").unwrap();
    }
    std::fs::write(&path, text).unwrap();
    Report { run: mindful.json(format!("show {id}")), text: mindful.text(format!("show {id} --full")) }
}

#[test]
fn a_limit_that_a_volume_reports_is_the_verdict() {
    let mindful = Mindful::beside_others(place());
    let held = recorded(&mindful, [Some(980_000.0), Some(100_000.0)]);
    let evidence = held.evidence("storage-cap");
    assert!(evidence.starts_with("the volume's limit of IOPS held nvme1n1 for 3.9 of 4.0 s; the instance's"), "{held}");
    assert_eq!(held.run["steps"][0]["limited_by"], "a device cap", "{held}");
    assert!(
        unwrapped(&held.text).contains("limited by a device cap: the volume's limit of IOPS held nvme1n1"),
        "{held}"
    );
    let figure = |held: &Report, name: &str| held.run["steps"][0]["caps"][name].as_f64();
    assert!((figure(&held, "volume_iops_us").unwrap() / 3.92e6 - 1.0).abs() < 0.1, "{held}");
    assert_eq!(figure(&held, "volume_bytes_us"), None);

    // Counters that go back, and a volume without answers.
    for over_us in [[Some(-980_000.0), Some(0.0)], [None, None]] {
        let free = recorded(&mindful, over_us);
        assert!(!free.has("storage-cap") && free.run["steps"][0]["limited_by"] != "a device cap", "{free}");
        assert_eq!(figure(&free, "volume_iops_us"), None, "{free}");
    }
}

#[test]
fn a_server_at_the_limit_of_its_group_has_that_limit_named() {
    const READS: u32 = 300;
    let mindful = Mindful::beside_others(place());
    let Some(reads) = ControlGroup::with_reads_of(&mindful.path("."), READS) else { return };
    let server = UsersServer::start(&mindful, "shared_buffers=1MB");
    let single = "--work-unit 1 --duration 3s";
    let free = server.run(&mindful, single);
    assert!(!free.has("storage-cap") && free.run["steps"][0]["caps"]["group_share"].is_null(), "{free}");
    reads.hold(server.pid());
    // On a full host, a server may be too slow to reach the limit.
    let held = retried(|| server.run(&mindful, single), |held| held.has("storage-cap"));
    assert!(held.shows("host-setting", &READS.to_string()), "{held}");
    if held.disturbed() && !held.has("storage-cap") {
        return;
    }
    let evidence = held.evidence("storage-cap");
    assert!(evidence.contains("read requests at") && evidence.ends_with(&format!("of {READS}/s allowed")), "{held}");
    assert_eq!(held.run["steps"][0]["limited_by"], "a device cap", "{held}");
    let share = held.run["steps"][0]["caps"]["group_share"].as_f64().unwrap();
    assert!((0.95..1.1).contains(&share), "{held}");
}
