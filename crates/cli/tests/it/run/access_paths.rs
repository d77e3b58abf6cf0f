//! Access paths from the command line on a private PostgreSQL: whether a setting that was changed took part.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use mindful_conformance::quick_place;
use serde_json::Value;

use crate::mindful::{Mindful, json, refused, template};

fn with_data(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mindful"));
    command.args(args).current_dir(folder).env("MINDFUL_STORE", folder.join("store")).stdin(Stdio::null());
    command.env("MINDFUL_DATA_DIR", folder.join("data")).output().unwrap()
}

const WORK: [&str; 14] = [
    "--schemas",
    "2",
    "--scale",
    "16MiB",
    "--sessions",
    "2",
    "--work-unit",
    "64",
    "--cache",
    "20MiB",
    "--warmup",
    "200ms",
    "--think-time",
    "20ms..20ms",
];

/// With a private server that has the dataset.
fn place() -> tempfile::TempDir {
    let place = quick_place();
    template::copy_to(&place.path().join("data"));
    place
}

/// The first of three sweeps in each of whose steps blocks were read, the last with the longest windows: on a full host a session
/// may not get to work in a short one.
fn swept(folder: &Path, args: &[&str]) -> Value {
    let sweep = |duration| json(&with_data(folder, &[args, &["--duration", duration]].concat()));
    let worked = |swept: &Value| swept["steps"].as_array().unwrap().iter().all(|s| s["blocks_per_read"].is_number());
    ["1s", "3s"].into_iter().map(sweep).find(worked).unwrap_or_else(|| sweep("6s"))
}

fn codes(summary: &Value) -> Vec<&str> {
    summary["findings"].as_array().unwrap().iter().filter_map(|finding| finding["code"].as_str()).collect()
}

#[test]
fn settings_that_cannot_matter_are_named_by_run_and_comparison() {
    let place = place();
    let run = |set: &str, access: &str| {
        let tag = format!("{}-{access}", set.replace('=', "-"));
        // Chosen by the free space, it would differ where others fill the disk meanwhile.
        let set = format!("{set},max_wal_size=1GB");
        let own = ["run", "--set", &set, "--access", access, "--tag", &tag, "--format", "json"];
        (json(&with_data(place.path(), &[&own[..], &WORK, &["--duration", "1s"]].concat())), tag)
    };
    let compare = |a: &str, b: &str, more: &[&str]| {
        with_data(place.path(), &[&["compare", "--baseline", a, "--candidate", b][..], more].concat())
    };
    for (access, idle) in [("index", true), ("bitmap", false)] {
        let (sync, a) = run("io_method=sync", access);
        let (worker, b) = run("io_method=worker", access);
        for summary in [&sync, &worker] {
            assert_eq!(codes(summary).contains(&"pg-idle-settings"), idle, "{access}: {summary:#}");
        }
        let text = String::from_utf8(compare(&a, &b, &[]).stdout).unwrap();
        let first = text.lines().next().unwrap_or_default();
        assert_eq!(first.starts_with("the sides differ only in io_method, which cannot matter"), idle, "{text}");
        let reported = json(&compare(&a, &b, &["--format", "json"]));
        let named = if idle { serde_json::json!(["io_method"]) } else { serde_json::json!([]) };
        assert_eq!(reported["idle_settings"], named, "{reported:#}");
    }
}

#[test]
fn a_sweep_over_io_method_and_access_reads_as_each_point_says() {
    let place = place();
    let point = |step: &Value, key: &str| step["point"]["values"][key].as_str().unwrap_or_default().to_owned();
    let set = ["sweep", "--format", "json", "--set", "io_method=sync,worker", "--access", "index,bitmap,scan"];
    let more = ["--price", "3 USD"];
    let work: Vec<&str> = WORK.iter().filter(|word| !matches!(**word, "--work-unit" | "64")).copied().collect();
    let swept = swept(place.path(), &[&set[..], &more, &work].concat());
    let steps = swept["steps"].as_array().unwrap();
    for access in ["index", "bitmap", "scan"] {
        for set in ["io_method=sync", "io_method=worker"] {
            let found = steps.iter().find(|step| point(step, "set") == set && point(step, "access") == access);
            let step = found.unwrap_or_else(|| panic!("{set} by {access}: {swept:#}"));
            let kind = if access == "scan" { "scan" } else { "select" };
            assert!(step["ops"][kind]["count"].as_u64().unwrap() > 0, "{step:#}");
            assert!(step["per_price"]["operations"].as_f64().unwrap() > 0.0, "{step:#}");
            // Half of the data fits the cache, so requests of a scan are cut short by blocks that are there.
            let blocks = step["blocks_per_read"].as_f64().unwrap();
            match access {
                "index" => assert!((blocks - 1.0).abs() < 0.01, "{blocks} blocks a read, {set}"),
                "scan" => assert!(blocks > 1.5, "{blocks} blocks a read of a scan, {set}"),
                _ => assert!(blocks >= 0.99, "{blocks} blocks a read by bitmap, {set}"),
            }
            println!("{set} by {access}: {blocks:.2} blocks a read, {} in flight", step["device_in_flight"]);
        }
    }
}

/// The point whose index scans never look at the setting is named, the one whose bitmap scans do is not.
#[test]
fn a_ladder_of_a_setting_tells_the_points_where_it_is_idle() {
    let place = place();
    let set = ["sweep", "--format", "json", "--set", "effective_io_concurrency=1,32", "--access", "index,bitmap"];
    let swept = swept(place.path(), &[&set[..], &WORK].concat());
    let all = swept["findings"].as_array().unwrap().iter().filter(|finding| finding["code"] == "pg-idle-settings");
    let named: Vec<&str> = all.map(|finding| finding["evidence"].as_str().unwrap()).collect();
    let steps = swept["steps"].as_array().unwrap();
    let mut points: Vec<[&str; 2]> = Vec::new();
    for (number, step) in (1..).zip(steps) {
        let value = |key: &str| step["point"]["values"][key].as_str().unwrap();
        points.push([value("set"), value("access")]);
        assert!(step["ops"]["select"]["count"].as_u64().unwrap() > 0, "{step:#}");
        let reported =
            named.iter().any(|evidence| evidence.starts_with(&format!("step {number}: effective_io_concurrency: ")));
        assert_eq!(reported, value("access") == "index", "step {number} of {points:?}: {named:#?}");
        println!("{} by {}: {} in flight", value("set"), value("access"), step["device_in_flight"]);
    }
    points.sort_unstable();
    points.dedup();
    assert_eq!(points.len(), 4, "{points:?}");
    assert_eq!(named.len(), steps.iter().filter(|step| step["point"]["values"]["access"] == "index").count());
}

#[test]
fn what_an_access_path_cannot_do_is_refused_at_once() {
    let mindful = Mindful::new();
    for (args, reported) in [
        (&["--access", "scan", "--work-unit", "8"][..], "an operation reads all blocks of a schema"),
        (&["--access", "bitmap", "--update-pct", "10"], "updates go by the index"),
        (&["--access", "scan", "--skew", "zipf:0.9"], "choose nothing there"),
        (&["--access", "bitmap", "--target", "null:"], "cannot choose how blocks are reached"),
        (&["--access", "heap"], "choose index, bitmap, scan"),
    ] {
        let text = refused(&mindful.run(&[&["run"][..], args].concat()));
        assert!(text.contains(reported), "{text}");
    }
}
