//! Whole sweeps on the null engine, whose curves are known.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

fn command(store: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mindful"));
    command.args(args).current_dir(store).env("MINDFUL_STORE", store).stdin(Stdio::null());
    command
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

const NULL: [&str; 12] = [
    "sweep",
    "--format",
    "json",
    "--target",
    "null:",
    "--scale",
    "1000",
    "--warmup",
    "0s",
    "--work-unit",
    "1",
    "--null-latency=1ms",
];

fn sweep(store: &Path, args: &[&str]) -> Value {
    json(&command(store, &[&NULL[..], args].concat()).output().unwrap())
}

#[test]
fn an_adaptive_ladder_finds_the_knee_of_a_hard_cap() {
    let store = tempfile::tempdir().unwrap();
    let swept = sweep(store.path(), &["--sessions", "1..64", "--duration", "1s", "--null-capacity", "8"]);
    let knee = swept["knee"]["asymptote_sessions"].as_f64().unwrap();
    assert!((5.0..12.0).contains(&knee), "a cap of 8 servers, knee at {knee}");
    let steps = swept["steps"].as_array().unwrap();
    assert_eq!(steps.last().unwrap()["point"]["drift_check"], true);
    let folders = std::fs::read_dir(store.path().join("runs")).unwrap().count();
    assert_eq!(folders, 1, "a sweep is one folder");
}

#[test]
fn a_grid_measures_every_point_in_an_order_drawn_from_the_seed() {
    let store = tempfile::tempdir().unwrap();
    let swept = sweep(store.path(), &["--sessions", "1,2", "--update-pct", "0,50", "--duration", "500ms"]);
    let steps = swept["steps"].as_array().unwrap();
    let points: BTreeSet<_> = steps.iter().map(|s| (s["sessions"].as_u64(), s["update_pct"].to_string())).collect();
    assert_eq!((points.len(), steps.len()), (4, 5), "{swept:#}");
}

#[test]
fn a_killed_sweep_goes_on_and_loses_or_repeats_nothing() {
    let store = tempfile::tempdir().unwrap();
    let ladder = ["--sessions", "1,2,3,4,5,6", "--duration", "1s", "--tag", "night"];
    // Killed at moments all over a step, then resumed until it is done.
    for after_ms in [1_700, 2_900, 2_300] {
        let begun = store.path().join("runs").exists();
        let args: Vec<&str> = if begun { vec!["sweep", "--resume", "night"] } else { [&NULL[..], &ladder].concat() };
        let mut child = command(store.path(), &args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(after_ms));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let before = json(&command(store.path(), &["show", "night", "--format", "json"]).output().unwrap());
    let began = Instant::now();
    let swept = json(&command(store.path(), &["sweep", "--resume", "night", "--format", "json"]).output().unwrap());
    assert!(began.elapsed() < Duration::from_mins(1));
    let steps = swept["steps"].as_array().unwrap();
    let sessions: BTreeSet<_> = steps.iter().map(|s| s["sessions"].as_u64().unwrap()).collect();
    assert_eq!((sessions, steps.len()), (BTreeSet::from([1, 2, 3, 4, 5, 6]), 7), "six rungs and the drift check");
    assert_eq!(swept["finished"], true);
    // What was finished before the last kill stands there unchanged.
    let kept = before["steps"].as_array().unwrap();
    let finished = kept.len().saturating_sub(1);
    assert!(finished >= 1, "{before:#}");
    assert_eq!(&kept[..finished], &steps[..finished]);
}

#[test]
fn a_budget_leaves_out_what_does_not_fit_and_names_it() {
    let store = tempfile::tempdir().unwrap();
    let args = ["--sessions", "1,2,3,4,5,6,7,8", "--duration", "1s", "--budget", "13s"];
    let output = command(store.path(), &[&NULL[..], &args].concat()).output().unwrap();
    assert!(json(&output)["steps"].as_array().unwrap().len() < 5);
    assert!(String::from_utf8_lossy(&output.stderr).contains("the budget leaves out"), "{output:?}");
}

#[test]
fn adaptive_ladders_share_a_budget_and_what_it_cuts_is_named() {
    let store = tempfile::tempdir().unwrap();
    let args = ["--sessions", "1..64", "--update-pct", "0,20", "--duration", "1s", "--budget", "20s"];
    let began = Instant::now();
    let output = command(store.path(), &[&NULL[..], &args].concat()).output().unwrap();
    assert!(began.elapsed() < Duration::from_secs(20), "{:?}", began.elapsed());
    let swept = json(&output);
    let of = |pct: &str| {
        let steps = swept["steps"].as_array().unwrap().iter();
        steps.filter(|step| step["point"]["values"]["update_pct"] == pct).count()
    };
    assert!(of("0").abs_diff(of("20")) <= 3 && of("0") >= 3, "{} and {} steps", of("0"), of("20"));
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("the budget is used up; left out is what follows from sessions"), "{told}");
}

#[test]
fn a_sweep_for_a_person_tells_its_drift_and_each_finding_once() {
    let store = tempfile::tempdir().unwrap();
    let args = ["--sessions", "1,2", "--duration", "500ms", "--tag", "told"];
    sweep(store.path(), &args);
    let shown = command(store.path(), &["show", "told"]).output().unwrap();
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(text.contains("again at the end did"), "{text}");
    assert_eq!(text.matches("few-operations:").count(), 1, "{text}");
    assert!(text.contains("(step 1: ") && text.contains("; step 3: "), "{text}");
}

#[test]
fn the_highest_load_that_meets_an_objective_is_found_and_confirmed() {
    let store = tempfile::tempdir().unwrap();
    // 4 servers of 1 ms: with N sessions an operation takes N / 4 ms beyond the cap.
    let args = ["--sessions", "1..64", "--max-iops-at", "p50<=3ms", "--duration", "1500ms", "--null-capacity", "4"];
    let output = command(store.path(), &[&NULL[..], &args].concat()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let line =
        told.lines().find(|line| line.contains("is the highest load that meets")).unwrap_or_else(|| panic!("{told}"));
    let load: u32 = line.split_whitespace().skip_while(|w| *w != "sessions").nth(1).unwrap().parse().unwrap();
    assert!((9..=13).contains(&load), "{line}");
}

#[test]
fn a_mistyped_ladder_is_one_line_and_runs_nothing() {
    let store = tempfile::tempdir().unwrap();
    for (args, hint) in [
        (&["--sessions", "8..2"][..], "--sessions"),
        (&["--max-iops-at", "fast"], "p99<=1ms"),
        (&["--update-pct", "0,150", "--sessions", "1,2"], "0 to 100"),
    ] {
        let output = command(store.path(), &[&NULL[..], args].concat()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {text}");
        assert!(text.contains(hint) && text.trim_end().lines().count() == 1, "{args:?}: {text}");
    }
    assert!(!store.path().join("runs").exists());
}
