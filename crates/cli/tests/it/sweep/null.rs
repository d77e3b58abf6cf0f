//! Whole sweeps from the command line; what they do step by step is tested in simulated time, in crates/runner.

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
fn a_killed_sweep_goes_on_and_loses_or_repeats_nothing() {
    let store = tempfile::tempdir().unwrap();
    let ladder = ["--sessions", "1,2,3,4,5,6", "--duration", "1s", "--tag", "night"];
    let begun_steps = || {
        let runs = std::fs::read_dir(store.path().join("runs")).into_iter().flatten().flatten();
        let lines = runs.filter_map(|run| std::fs::read_to_string(run.path().join("run.jsonl")).ok());
        lines.map(|lines| lines.matches("\"event\":\"started\"").count()).sum::<usize>()
    };
    // Killed at moments all over a step, then resumed until it is done.
    for after_ms in [1_200, 2_400, 1_800] {
        let before = begun_steps();
        let begun = store.path().join("runs").exists();
        let args: Vec<&str> = if begun { vec!["sweep", "--resume", "night"] } else { [&NULL[..], &ladder].concat() };
        let mut child = command(store.path(), &args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        while begun_steps() == before && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(20));
        }
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
fn a_sweep_for_a_person_tells_its_drift_and_each_finding_once() {
    let store = tempfile::tempdir().unwrap();
    let args = ["--sessions", "1,2", "--duration", "500ms", "--tag", "reported"];
    sweep(store.path(), &args);
    let shown = command(store.path(), &["show", "reported", "--full"]).output().unwrap();
    let text = String::from_utf8(shown.stdout).unwrap();
    assert!(text.contains("again at the end did"), "{text}");
    assert_eq!(text.matches("few-operations:").count(), 1, "{text}");
    assert!(text.contains("few-operations: steps 1 to 3: "), "{text}");
}

/// A fit is no measurement: the two stand apart.
#[test]
fn a_fitted_capacity_is_held_apart_from_what_was_measured() {
    let store = tempfile::tempdir().unwrap();
    let curve =
        ["--null-latency", "2ms", "--null-capacity", "4", "--sessions", "1,2,3,4,6,8,12,16", "--duration", "300ms"];
    let base = ["sweep", "--target", "null:", "--scale", "1000", "--work-unit", "1", "--warmup", "0s"];
    let output = command(store.path(), &[&base[..], &curve].concat()).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let line = text.lines().find(|line| line.contains("highest measured")).unwrap_or_else(|| panic!("{text}"));
    let fitted = text.lines().find(|line| line.contains("fitted capacity ")).unwrap_or_else(|| panic!("{text}"));
    assert!(fitted.contains("(95 % interval ") && !fitted.contains("measured"), "{text}");
    assert!(line.contains(" blocks/s at ") && !text.contains("most that was reached"), "{text}");
}

/// Nothing is known of a percentile that too few operations tell: that is no answer, and no success.
#[test]
fn a_search_that_cannot_decide_says_what_it_takes_and_fails() {
    let store = tempfile::tempdir().unwrap();
    let search = |duration: &str| {
        let load = ["--sessions", "1..2", "--null-latency", "5ms", "--work-unit", "1", "--warmup", "0s"];
        // Far from what an operation takes, on a busy host too: what is asked is whether enough of them are known.
        let objective =
            ["sweep", "--target", "null:", "--scale", "1000", "--max-iops-at", "p99<=900ms", "--duration", duration];
        command(store.path(), &[&objective[..], &load].concat()).output().unwrap()
    };
    let undecided = search("90ms");
    let text = String::from_utf8_lossy(&undecided.stdout).into_owned();
    assert_eq!(undecided.status.code(), Some(1), "{text}");
    assert!(
        text.contains("objective-undecided") && text.contains("needs 1000 operations, and sessions 1 did"),
        "{text}"
    );
    let found = search("1500ms");
    let reported = String::from_utf8_lossy(&found.stderr).into_owned();
    assert_eq!(found.status.code(), Some(0), "{reported}");
    assert!(
        reported.contains("is the highest load that meets p99<=900ms, confirmed") && reported.contains(": p99 "),
        "{reported}"
    );
    let shown = String::from_utf8_lossy(&found.stdout).split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(
        shown.contains("highest load within p99<=900ms, confirmed by step ") && shown.contains(" blocks/s, p99 "),
        "{shown}"
    );
    let summary = json(&command(store.path(), &["show", "latest", "--format", "json"]).output().unwrap());
    assert_eq!(summary["objective"]["objective"], "p99<=900ms", "{summary:#}");
    assert!(summary["objective"]["blocks_visited_per_s"].as_f64().unwrap() > 0.0, "{summary:#}");
}

#[test]
fn a_sweep_is_exported_with_a_row_a_step_that_adds_up() {
    let store = tempfile::tempdir().unwrap();
    let more = ["--sessions", "1,4", "--update-pct", "50", "--duration", "1s", "--null-cpu", "10us", "--tag", "table"];
    // Where sessions begin late on a busy host, counters are not known at the begin of so short a window.
    let is_whole =
        |swept: &Value| swept["steps"].as_array().unwrap().iter().all(|step| step["physical_reads_per_s"].is_number());
    let swept = (0..5).map(|_| sweep(store.path(), &more)).find(is_whole).unwrap();
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
