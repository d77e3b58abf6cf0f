//! A whole sweep of a real PostgreSQL: within its budget, killed and gone on with, and its knee held against the eye.

#![cfg(feature = "postgres")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;

/// Longest time the sweep below may take, s.
const BUDGET_S: u64 = 75;

/// Reads draw from a cache and pause; updates all go to one row and hold it through a commit of 5 ms. What limits either
/// is waiting, not the CPU, so the curves stand even where others use it: reads grow up to 16 sessions, updates come to
/// an end where one row's commits fill the time.
const PLAN: [&str; 26] = [
    "--tag",
    "night",
    "--mode",
    "lio",
    "--schemas",
    "1",
    "--scale",
    "8MiB",
    "--sessions",
    "1..16",
    "--update-pct",
    "0,20",
    "--work-unit",
    "1",
    "--hot-spot-size",
    "1",
    "--hot-spot-share",
    "100",
    "--think-time",
    "5ms..5ms",
    "--set",
    "commit_delay=5000,commit_siblings=0",
    "--warmup",
    "300ms",
    "--duration",
    "1s",
];

fn command(folder: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_mindful"));
    command.args(args).current_dir(folder).env("MINDFUL_STORE", folder.join("store")).stdin(Stdio::null());
    command
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

/// `(sessions, blocks/s)` of the doublings in `steps` with that share of updates, rising.
fn doublings(steps: &[Value], update_pct: &str) -> Vec<(f64, f64)> {
    let of_ladder = |step: &&Value| {
        step["point"]["values"]["update_pct"] == update_pct && step["point"]["drift_check"].as_bool() == Some(false)
    };
    let point = |step: &Value| {
        let sessions = step["sessions"].as_u64().unwrap();
        sessions.is_power_of_two().then(|| (sessions as f64, step["blocks_visited_per_s"].as_f64().unwrap()))
    };
    let mut points: Vec<(f64, f64)> = steps.iter().filter(of_ladder).filter_map(point).collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}

/// The rule of the eye: the first rung from which doubling gains less than 10 %; the top one where every doubling gains
/// more.
fn knee_by_eye(rungs: &[(f64, f64)]) -> f64 {
    let flat = rungs.windows(2).find(|pair| pair[1].1 < pair[0].1 * 1.1);
    flat.map_or(rungs[rungs.len() - 1].0, |pair| pair[0].0)
}

#[test]
fn a_sweep_keeps_its_budget_survives_a_kill_and_finds_the_knee_the_eye_sees() {
    let place = tempfile::Builder::new().permissions(Permissions::from_mode(0o755)).tempdir().unwrap();
    let folder = place.path();
    let data = folder.join("data");
    let budget = format!("{BUDGET_S}s");
    let mut args = vec!["sweep", "--data-dir", data.to_str().unwrap(), "--budget", &budget];
    args.extend(PLAN);
    // Initialising the server and loading are in the budget too; the moment of the kill is anywhere in the ladders.
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos();
    let killed_after = Duration::from_millis(9_000 + u64::from(seed % 16_000));
    println!("seed {seed}: killed after {killed_after:?}");
    let began = Instant::now();
    let mut child = command(folder, &args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(killed_after);
    child.kill().unwrap();
    child.wait().unwrap();
    let before = json(&command(folder, &["show", "night", "--format", "json"]).output().unwrap());
    let resumed = command(folder, &["sweep", "--resume", "night", "--format", "json"]).output().unwrap();
    let took = began.elapsed();
    let swept = json(&resumed);

    assert!(took < Duration::from_secs(BUDGET_S), "{took:?} of a budget of {budget}");
    assert_eq!(swept["finished"], true, "{swept:#}");
    let steps = swept["steps"].as_array().unwrap();
    // The last step of the killed call may be half done: it is measured anew. All others stand as they were.
    let kept = before["steps"].as_array().unwrap();
    let kept = &kept[..kept.len().saturating_sub(1)];
    assert_eq!(swept["id"], before["id"], "seed {seed}");
    assert_eq!(kept, &steps[..kept.len()], "seed {seed}");
    let mut points: Vec<String> = steps.iter().map(|step| step["point"].to_string()).collect();
    points.sort_unstable();
    let measured = points.len();
    points.dedup();
    assert_eq!(points.len(), measured, "seed {seed}: no point twice");
    assert_eq!(steps.iter().filter(|step| step["point"]["drift_check"] == true).count(), 2, "both ladders ended");

    for update_pct in ["0", "20"] {
        let rungs = doublings(steps, update_pct);
        assert!(rungs.len() >= 4 && rungs[0].0 < 1.5, "{rungs:?}");
        let curves = swept["curves"].as_array().unwrap();
        let curve = curves.iter().find(|curve| curve["values"]["update_pct"] == update_pct).unwrap();
        // Without an asymptote in the ladder it lies at the top rung or beyond.
        let told = curve["knee"]["asymptote_sessions"].as_f64().unwrap_or(rungs[rungs.len() - 1].0);
        let by_eye = knee_by_eye(&rungs);
        assert!((told / by_eye).log2().abs() <= 1.0, "told {told}, seen {by_eye}: {rungs:?} {curve:#}");
        println!("update_pct {update_pct}: knee told {told:.1}, seen {by_eye}; {rungs:?}");
    }
    let updates = doublings(steps, "20");
    assert!(knee_by_eye(&updates) < 9.0, "one row's commits are an end: {updates:?}");
}
