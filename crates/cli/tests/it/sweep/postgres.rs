//! A whole sweep of a real PostgreSQL: within its budget, killed and resumed, and its knee compared with a reading by
//! eye.

use std::process::Stdio;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use mindful_conformance::quick_place;
use serde_json::Value;

use crate::mindful::{Mindful, json, kill, message, steps};

/// Longest time the sweep below may take, s: several times its duration on an idle host.
const BUDGET_S: u64 = 300;

/// Reads draw from a cache and pause; updates all go to one row and hold it through a commit of 5 ms. Both are limited
/// by waiting, not by the CPU, so others that use it do not change the curves: reads grow up to 16 sessions, updates
/// stop growing when one row's commits fill the time.
const PLAN: &str = "--tag night --mode lio --schemas 1 --scale 8MiB --sessions 1..16 --update-pct 0,20 --work-unit 1 \
                    --hot-spot-size 1 --hot-spot-share 100 --think-time 5ms..5ms \
                    --set commit_delay=5000,commit_siblings=0 --warmup 300ms --duration 1s";

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

/// The knee as drawn with a ruler: where the line through the first step reaches the highest measured rate.
fn knee_by_eye(steps: &[(f64, f64)]) -> f64 {
    let most = steps.iter().map(|(_, rate)| *rate).fold(0.0, f64::max);
    most * steps[0].0 / steps[0].1
}

#[test]
fn a_sweep_keeps_its_budget_survives_a_kill_finds_its_knee() {
    let mindful = Mindful::at(quick_place());
    let budget = format!("{BUDGET_S}s");
    let mut sweep = mindful.on_private(format!("sweep --budget {budget}"));
    sweep.args(PLAN.split_whitespace()).stdout(Stdio::null()).stderr(Stdio::null());
    // Initialising the server and loading are in the budget too; the kill comes at a random instant of the ladders.
    let seed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().subsec_nanos();
    let killed_after = Duration::from_millis(u64::from(seed % 16_000));
    println!("seed {seed}: killed {killed_after:?} after the first step began");
    let began = Instant::now();
    let mut child = sweep.spawn().unwrap();
    while !mindful.records().contains("\"event\":\"started\"") {
        assert!(began.elapsed() < Duration::from_secs(BUDGET_S), "no step began");
        std::thread::sleep(Duration::from_millis(50));
    }
    std::thread::sleep(killed_after);
    kill(&mut child);
    let before = mindful.json("show night");
    let swept = mindful.json("sweep --resume night");
    let took = began.elapsed();

    assert!(took < Duration::from_secs(BUDGET_S), "{took:?} of a budget of {budget}");
    assert_eq!(swept["finished"], true, "{swept:#}");
    let steps = steps(&swept);
    // The last step of the killed call may be half done: it is measured again. All others are unchanged.
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
        let steps = doublings(steps, update_pct);
        assert!(steps.len() >= 4 && steps[0].0 < 1.5, "{steps:?}");
        let curves = swept["curves"].as_array().unwrap();
        let curve = curves.iter().find(|curve| curve["values"]["update_pct"] == update_pct).unwrap();
        // Without an asymptote in the ladder it is at the highest step or beyond.
        let knee = curve["knee"]["asymptote_sessions"].as_f64().unwrap_or(steps[steps.len() - 1].0);
        let by_eye = knee_by_eye(&steps);
        assert!((knee / by_eye).log2().abs() <= 1.0, "found {knee}, seen {by_eye}: {steps:?} {curve:#}");
        println!("update_pct {update_pct}: knee found {knee:.1}, seen {by_eye}; {steps:?}");
    }
    let updates = doublings(steps, "20");
    assert!(knee_by_eye(&updates) < 9.0, "one row's commits are an end: {updates:?}");
}

#[test]
fn a_server_setting_is_a_ladder_with_restarts_between_windows() {
    let mindful = Mindful::at(quick_place());
    let work = "--mode lio --schemas 1 --scale 8MiB --sessions 1";
    // With these pauses the warm-up still visits every block.
    let length = "--think-time 2ms..2ms --warmup 500ms --duration 1s";
    let swept = json(&mindful.private(("sweep --format json --set shared_buffers=2MB,64MB", &work, &length)));
    let steps = steps(&swept);
    let of = |value: &str| {
        let set = format!("shared_buffers={value}");
        let mut found =
            steps.iter().filter(|s| s["point"]["values"]["set"] == set && s["point"]["drift_check"] == false);
        found.next().unwrap_or_else(|| panic!("{set}: {swept:#}"))
    };
    for step in steps {
        let measured = step["duration_s"].as_f64().unwrap();
        assert!((measured - 1.0).abs() < 0.02, "a restart within the window of {measured} s: {step:#}");
    }
    // The server that was measured had the setting: 8 MiB fit into one cache and not into the other.
    let hits = |value: &str| of(value)["hit_ratio"].as_f64().unwrap();
    assert!(hits("2MB") < 0.8 && hits("64MB") > 0.95, "{} {}", hits("2MB"), hits("64MB"));
}

#[test]
fn most_sessions_within_an_objective_are_confirmed_in_full() {
    let mindful = Mindful::at(quick_place());
    // One row's commits of 5 ms: the more sessions update it, the longer each waits.
    let work = "--schemas 1 --scale 8MiB --update-pct 100 --work-unit 1 --mode lio";
    let row = "--hot-spot-size 1 --hot-spot-share 100 --set commit_delay=5000,commit_siblings=0";
    let search = "--sessions 1..32 --max-iops-at p50<=40ms --warmup 200ms --duration 2s";
    let output = mindful.private(("sweep --format json", (work, row), search));
    let progress = message(&output);
    if progress.contains(" is in this range") {
        let [low, high] = [0, 1].map(|at| json(&output)["objective"]["load_range"][at].as_f64().unwrap());
        return assert!(1.0 < high && low < high && high <= 32.0, "{low} to {high}: {progress}");
    }
    let mut lines = progress.lines();
    let line =
        lines.find(|line| line.contains("is the highest load that meets")).unwrap_or_else(|| panic!("{progress}"));
    let load: u64 = line.split_whitespace().skip_while(|w| *w != "sessions").nth(1).unwrap().parse().unwrap();
    let swept = json(&output);
    let steps = steps(&swept);
    let p50_ms = |step: &Value| step["ops"]["update"]["p50_us"].as_f64().map(|us| us / 1e3);
    let mut full = steps.iter().filter(|s| s["sessions"] == load && s["point"]["pass"] == 1);
    let confirmed = full.next().unwrap_or_else(|| panic!("{swept:#}"));
    assert!(p50_ms(confirmed).is_some_and(|ms| ms <= 40.0) && full.all(|s| p50_ms(s).is_some_and(|ms| ms <= 40.0)));
    assert!((confirmed["duration_s"].as_f64().unwrap() / 2.0 - 1.0).abs() < 0.05, "full length: {confirmed:#}");
    // By chance the short window of the load itself may miss what the full one meets.
    let missed = steps.iter().filter(|s| s["sessions"] != load && p50_ms(s).is_some_and(|ms| ms > 40.0));
    let least = missed.filter_map(|s| s["sessions"].as_u64()).min();
    assert!(least.is_some_and(|missed| missed > load), "found {load}, missed {least:?}: {progress}");
}
