//! Whole sweeps on the null engine, whose curves are known.

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
fn a_sweep_is_exported_with_a_row_a_step_and_figures_that_fit_together() {
    let store = tempfile::tempdir().unwrap();
    let more = ["--sessions", "1,4", "--update-pct", "50", "--duration", "1s", "--null-cpu", "10us", "--tag", "table"];
    let swept = sweep(store.path(), &more);
    let csv = String::from_utf8(command(store.path(), &["export", "table"]).output().unwrap().stdout).unwrap();
    // Commas within quotes part no fields.
    let unquoted = |(i, part): (usize, &str)| if i % 2 == 1 { part.replace(',', ";") } else { part.to_owned() };
    let csv: String = csv.split('"').enumerate().map(unquoted).collect();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), swept["steps"].as_array().unwrap().len() + 1, "{csv}");
    let text = |row: &[&str], name: &str| -> String {
        let column = rows[0].iter().position(|n| *n == name).unwrap_or_else(|| panic!("{name}: {csv}"));
        row[column].to_owned()
    };
    let number =
        |row: &[&str], name: &str| -> f64 { text(row, name).parse().unwrap_or_else(|e| panic!("{name}: {e}: {csv}")) };
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
    for row in &rows[1..] {
        assert_eq!(row.len(), rows[0].len(), "{csv}");
        assert_eq!(text(row, "point"), format!("sessions {}", text(row, "sessions")), "{csv}");
        for way in ["read", "write"] {
            let (mib, blocks) = (format!("{way}_mib_per_s"), format!("physical_{way}s_per_s"));
            assert!(near(number(row, &mib), number(row, &blocks) * 8192.0 / 1_048_576.0), "{way}: {csv}");
        }
        assert!(near(number(row, "log_mib_per_s"), number(row, "log_bytes_per_s") / 1_048_576.0), "{csv}");
        for kind in ["select", "update"] {
            let at = |name: &str| number(row, &format!("{kind}_{name}_us"));
            assert!(at("mean") > 900.0 && at("p50") <= at("p95") && at("p95") <= at("max"), "{csv}");
        }
        assert!(number(row, "db_cores") > 0.0 && (0.0..=1.0).contains(&number(row, "hit_ratio")), "{csv}");
        assert!(!text(row, "verdict").is_empty() && !text(row, "validity").is_empty(), "{csv}");
    }
    assert_eq!(rows[1..].iter().filter(|row| text(row, "drift_check") == "yes").count(), 1, "{csv}");
}

#[test]
fn the_highest_rate_that_meets_an_objective_is_the_known_one_confirmed_at_full_length() {
    let store = tempfile::tempdir().unwrap();
    // Eight sessions that serve an operation in 40 ms carry 200 a second; below that operations wait little, above
    // without end.
    let args = ["--sessions", "8", "--rate", "40..800", "--max-iops-at", "p50<=300ms", "--duration", "3s"];
    let output = command(store.path(), &[&NULL[..11], &["--null-latency=40ms"], &args].concat()).output().unwrap();
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    let line =
        told.lines().find(|line| line.contains("is the highest load that meets")).unwrap_or_else(|| panic!("{told}"));
    let rate: f64 = line.split_whitespace().skip_while(|w| *w != "rate").nth(1).unwrap().parse().unwrap();
    let swept = json(&output);
    let steps = swept["steps"].as_array().unwrap();
    // What they carried at the most: less than 200 where others keep them from the CPU.
    let carried = steps.iter().filter_map(|step| step["blocks_visited_per_s"].as_f64()).fold(0.0, f64::max);
    assert!(carried < 230.0 && (0.5..=1.15).contains(&(rate / carried)), "{carried}: {line}");
    let at = |step: &Value| step["point"]["values"]["rate"].as_str().unwrap().parse::<f64>().unwrap();
    let full = steps.iter().filter(|step| (at(step) - rate).abs() < 0.5 && step["point"]["pass"] == 1);
    let met = |step: &Value| step["ops"]["select"]["p50_us"].as_f64().is_some_and(|us| us <= 300_000.0);
    assert!(full.clone().count() >= 1 && full.clone().all(met), "{swept:#}");
    for step in full {
        assert!((step["duration_s"].as_f64().unwrap() / 3.0 - 1.0).abs() < 0.1, "full length: {step:#}");
    }
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
