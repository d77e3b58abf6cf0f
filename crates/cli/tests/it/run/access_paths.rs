//! Access paths from the command line on a private PostgreSQL: whether a changed setting had an effect.

use mindful_conformance::quick_place;
use serde_json::Value;

use crate::mindful::{Mindful, codes, figure, findings, steps};

const WORK: &str = "--schemas 2 --scale 16MiB --sessions 2 --cache 20MiB --warmup 200ms --think-time 20ms..20ms";

fn place() -> Mindful {
    Mindful::at(quick_place()).with_private()
}

fn with_work(mindful: &Mindful, args: &str) -> Value {
    mindful.private_json((args, WORK))
}

/// The first of three sweeps with blocks read in each step, the last with the longest windows: on a full host a session
/// may not get to work in a short one.
fn swept(mindful: &Mindful, args: &str) -> Value {
    let sweep = |duration| with_work(mindful, &format!("sweep {args} --duration {duration}"));
    let worked = |swept: &Value| steps(swept).iter().all(|s| s["blocks_per_read"].is_number());
    ["1s", "3s"].into_iter().map(sweep).find(worked).unwrap_or_else(|| sweep("6s"))
}

#[test]
fn settings_that_cannot_matter_are_named_by_run_and_comparison() {
    let mindful = place();
    let run = |set: &str, access: &str| {
        let tag = format!("{}-{access}", set.replace('=', "-"));
        // Chosen by the free space, it would differ where others fill the disk meanwhile.
        let set = format!("{set},max_wal_size=1GB");
        let own = format!("run --set '{set}' --access {access} --tag {tag} --work-unit 64 --duration 1s");
        (with_work(&mindful, &own), tag)
    };
    for (access, idle) in [("index", true), ("bitmap", false)] {
        let (sync, a) = run("io_method=sync", access);
        let (worker, b) = run("io_method=worker", access);
        for summary in [&sync, &worker] {
            assert_eq!(codes(summary).contains(&"pg-idle-settings"), idle, "{access}: {summary:#}");
        }
        let text = mindful.text(["compare", &a, &b]);
        let first = text.lines().next().unwrap_or_default();
        assert_eq!(first.starts_with("the sides differ only in io_method, which has no effect"), idle, "{text}");
        let compared = mindful.json(["compare", &a, &b]);
        let named = if idle { serde_json::json!(["io_method"]) } else { serde_json::json!([]) };
        assert_eq!(compared["idle_settings"], named, "{compared:#}");
    }
}

#[test]
fn a_sweep_over_io_method_and_access_reads_as_each_point_says() {
    let mindful = place();
    let point = |step: &Value, key: &str| step["point"]["values"][key].as_str().unwrap_or_default().to_owned();
    let set = "--set io_method=sync,worker --access index,bitmap,scan --price '3 USD'";
    let swept = swept(&mindful, set);
    let steps = steps(&swept);
    for access in ["index", "bitmap", "scan"] {
        for set in ["io_method=sync", "io_method=worker"] {
            let found = steps.iter().find(|step| point(step, "set") == set && point(step, "access") == access);
            let step = found.unwrap_or_else(|| panic!("{set} by {access}: {swept:#}"));
            let kind = if access == "scan" { "scan" } else { "select" };
            assert!(figure(&step["ops"][kind], "count") > 0.0, "{step:#}");
            assert!(figure(&step["per_price"], "operations") > 0.0, "{step:#}");
            // Half of the data fits the cache, so cached blocks shorten the requests of a scan.
            let blocks = figure(step, "blocks_per_read");
            match access {
                "index" => assert!((blocks - 1.0).abs() < 0.01, "{blocks} blocks a read, {set}"),
                "scan" => assert!(blocks > 1.5, "{blocks} blocks a read of a scan, {set}"),
                _ => assert!(blocks >= 0.99, "{blocks} blocks a read by bitmap, {set}"),
            }
            println!("{set} by {access}: {blocks:.2} blocks a read, {} in flight", step["device_in_flight"]);
        }
    }
}

/// The point with index scans, which ignore the setting, is named; the one with bitmap scans, which use it, is not.
#[test]
fn a_ladder_of_a_setting_names_the_points_without_effect() {
    let mindful = place();
    let set = "--set effective_io_concurrency=1,32 --access index,bitmap --work-unit 64";
    let swept = swept(&mindful, set);
    let all = findings(&swept, "pg-idle-settings").into_iter();
    let named: Vec<&str> = all.map(|finding| finding["evidence"].as_str().unwrap()).collect();
    let steps = steps(&swept);
    let mut points: Vec<[&str; 2]> = Vec::new();
    for (number, step) in (1..).zip(steps) {
        let value = |key: &str| step["point"]["values"][key].as_str().unwrap();
        points.push([value("set"), value("access")]);
        assert!(step["ops"]["select"]["count"].as_u64().unwrap() > 0, "{step:#}");
        let idle = format!("step {number}: effective_io_concurrency: ");
        let is_named = named.iter().any(|evidence| evidence.starts_with(&idle));
        assert_eq!(is_named, value("access") == "index", "step {number} of {points:?}: {named:#?}");
        println!("{} by {}: {} in flight", value("set"), value("access"), step["device_in_flight"]);
    }
    points.sort_unstable();
    points.dedup();
    assert_eq!(points.len(), 4, "{points:?}");
    assert_eq!(named.len(), steps.iter().filter(|step| step["point"]["values"]["access"] == "index").count());
}
