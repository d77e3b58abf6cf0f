//! How runs on the null engine end: what they print and store, and their exit codes.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mindful_conformance::{not_run, quick_place};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use crate::mindful::{Mindful, Words, codes, ended, json, kill, null, refused, wait_until};

/// Exit code and summary of a short run. Sessions that a busy host makes late are so in the warm-up.
pub(crate) fn judged(mindful: &Mindful, args: impl Words) -> (Option<i32>, Value) {
    let output = mindful.run(null("run", ("--format json --warmup 500ms", args)));
    (output.status.code(), json(&output))
}

#[test]
fn a_run_is_measured_stored_and_shown_the_same_again() {
    let mindful = Mindful::new();
    let (code, ran) = judged(&mindful, "--duration 2s --sessions 4 --update-pct 20");
    assert_eq!(code, Some(0), "{ran:#}");
    let step = &ran["steps"][0];
    assert!((step["update_pct_realised"].as_f64().unwrap() - 20.0).abs() < 0.1, "{step:#}");
    assert!((step["duration_s"].as_f64().unwrap() - 2.0).abs() < 0.02, "{step:#}");
    assert_eq!(mindful.json("show latest"), ran);
    let id = ran["id"].as_str().unwrap();
    let listed = mindful.text("list");
    assert!(listed.contains(id), "{listed}");
}

#[test]
fn a_session_that_dies_makes_the_run_invalid_and_is_named() {
    let mindful = Mindful::new();
    let (code, ran) = judged(&mindful, "--duration 5s --sessions 3 --null-fail 2@1s");
    assert_eq!((code, ran["validity"].as_str().unwrap()), (Some(1), "invalid"), "{ran:#}");
    assert!(ran["findings"].to_string().contains("session 3: the null engine ended it"), "{ran:#}");
}

#[test]
fn an_interrupted_run_is_readable_and_marked() {
    let mindful = Mindful::new();
    let mut run = mindful.command(null("run", "--format json --duration 5m"));
    let child = run.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("no run folder appeared", || !is_empty(&mindful));
    std::thread::sleep(Duration::from_secs(2));
    let signalled = Instant::now();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(signalled.elapsed() < Duration::from_secs(30), "{:?}", signalled.elapsed());
    assert_eq!(output.status.code(), Some(130));
    let ran = json(&output);
    assert_eq!(ran["validity"], "invalid");
    assert!(ran["findings"].to_string().contains("interrupted"), "{ran:#}");
}

#[test]
fn a_killed_run_stays_readable_and_is_unfinished() {
    let mindful = Mindful::new();
    let mut child = mindful.start(null("run", "--duration 5m"));
    wait_until("no run folder appeared", || !is_empty(&mindful));
    std::thread::sleep(Duration::from_secs(2));
    kill(&mut child);
    let shown = mindful.json("show");
    assert_eq!(shown["finished"], false);
    assert_ne!(shown["validity"], "valid");
}

fn is_empty(mindful: &Mindful) -> bool {
    mindful.runs().read_dir().map_or(0, Iterator::count) == 0
}

fn events(mindful: &Mindful, run: &Value) -> Vec<Value> {
    let record = std::fs::read_to_string(mindful.run_folder(run).join("run.jsonl")).unwrap();
    record.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_fixed_amount_of_work_is_done_exactly() {
    let mindful = Mindful::new();
    let (code, ran) = judged(&mindful, "--ops 500 --sessions 3 --null-latency 1ms");
    assert_eq!(code, Some(0), "{ran:#}");
    let mut done = [0; 3];
    for slice in events(&mindful, &ran).iter().filter(|event| event["event"] == "slice") {
        let session = slice["session"].as_u64().unwrap() as usize;
        done[session] += slice["report"]["ops"][0]["ops"].as_u64().unwrap();
    }
    assert_eq!(done, [500, 500, 500]);
}

#[test]
fn bad_input_is_one_line_and_changes_nothing() {
    let mindful = Mindful::new();
    let cases: &[(&str, &str)] = &[
        ("run --sesions 4", "did you mean `--sessions`?"),
        ("rum", "did you mean `run`?"),
        ("run --target /dev/sdz", "raw:PATH"),
        ("compare a", "two sides or more, and 1 was named"),
        ("run --duration 30", "`30` is not a time"),
        ("run --scale 64M", "write MiB"),
        ("run --update-pct 101", "0 to 100"),
        ("run --target nul:", "did you mean `null`?"),
        ("run --target null: --scale 100 --work-unit 101", "larger than the scale"),
        ("run --target null: --schemas 3 --threads 2 --sessions 5", "are 6 sessions"),
        ("run --target null: --ops 5 --duration 3s", "both ops and duration"),
        ("run --tag 'a b'", "cannot be a tag"),
        ("show nothing", "holds no runs"),
        ("run --target null: --loop server --rate 5", "--loop client"),
    ];
    for (args, hint) in cases {
        let refusal = mindful.refusal(args);
        assert!(refusal.contains(hint), "{args:?}: {refusal}");
    }
    assert!(is_empty(&mindful));
}

#[test]
fn realised_choices_are_reported_alone_and_together() {
    let mindful = Mindful::new();
    let ran = mindful.measured("--duration 2s --update-pct 50 --work-unit 1 --hot-spot-size 200 --hot-spot-share 50");
    let choices = &ran["steps"][0]["choices"];
    let share =
        |group: &str, name: &str| choices[group][name].as_f64().unwrap_or_else(|| panic!("{name}: {choices:#}"));
    assert!((share("alone_pct", "update") - 50.0).abs() < 0.2 && (share("alone_pct", "hot_spot") - 50.0).abs() < 2.0);
    // Independent: together as often as the product of both.
    assert!((share("joint_pct", "update+hot_spot") - 25.0).abs() < 2.0, "{choices:#}");
}

#[test]
fn an_update_runs_headline_names_when_it_commits() {
    let mindful = Mindful::new();
    for (keys, words) in [
        ("--commit 10 --commit-wait off", "commits every 10 updates, not waiting for the log"),
        ("", "commits each update, waiting for the log"),
    ] {
        let (_, ran) = judged(&mindful, ("--duration 1s --update-pct 30", keys));
        let text = mindful.text("show");
        let headline = text.lines().find(|line| line.contains("blocks visited") || line.contains("reads"));
        assert!(headline.is_some_and(|line| line.contains(words)), "{text}");
        assert!(words.ends_with(ran["steps"][0]["commit"].as_str().unwrap()), "{ran:#}");
    }
}

#[test]
fn a_stalled_open_loop_keeps_every_tick_and_no_percentile() {
    let mindful = Mindful::new();
    // Two sessions can do 400 a second; the backlog of a stall of a second is more than the rest of the run can catch
    // up.
    let rate = "--rate even:300 --null-latency 5ms --null-stall 1500ms+1s --sessions 2";
    let (_, ran) = judged(&mindful, ("--duration 3s", &rate));
    let events = events(&mindful, &ran);
    let started = events.iter().find(|event| event["event"] == "started").unwrap();
    let boundaries = started["boundaries_us"].as_array().unwrap();
    let us = |boundary: Option<&Value>| boundary.unwrap().as_f64().unwrap();
    let due = 300.0 * (us(boundaries.last()) - us(boundaries.first())) / 1e6;
    let (mut done, mut left) = (0, [0, 0]);
    for slice in events.iter().filter(|event| event["event"] == "slice") {
        done += slice["report"]["ops"][0]["ops"].as_u64().unwrap();
        left[slice["session"].as_u64().unwrap() as usize] = slice["report"]["backlog"].as_u64().unwrap();
    }
    let met = (done + left[0] + left[1]) as f64;
    assert!((met - due).abs() <= 2.0, "{done} done and {left:?} left of {due} due");
    assert!(left[0] + left[1] > 50, "{left:?}");
    // JSON, CSV, the report and the list.
    let select = &ran["steps"][0]["ops"]["select"];
    for name in ["p50_us", "p95_us", "p99_us", "p999_us"] {
        assert!(select[name].is_null(), "{select:#}");
    }
    assert!(ran["findings"].to_string().contains("not-sustained"), "{ran:#}");
    let csv = mindful.text("export");
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    let percentile = |name: &str| ["_p50", "_p95", "_p99"].iter().any(|part| name.contains(part));
    for (name, value) in rows[0].iter().zip(&rows[1]).filter(|(name, _)| percentile(name)) {
        assert!(value.is_empty(), "{name} is {value}");
    }
    let text = mindful.text("show");
    let row = text.lines().find(|line| line.trim_start().starts_with("select ")).unwrap();
    assert!(row.matches('-').count() >= 4, "{text}");
}

#[test]
fn contradictory_keys_and_impossible_shares_are_refused() {
    let mindful = Mindful::new();
    let cases: [(&str, &str); 12] = [
        ("--hot-spot-size 100 --hot-spot-offset 901", "outside the scale"),
        ("--hot-spot-size 10 --work-unit 11", "does not fit into the hot spot"),
        ("--hot-spot-share 50", "--hot-spot-size"),
        ("--hot-schema 100.5", "0 to 100"),
        ("--scan-pct 10", "--scan-table"),
        ("--skew zipf:1", "0.001 to 0.999"),
        ("--skew hotset:0%,80%", "hotset:20%,80%"),
        ("--think-time 50ms..10ms", "ends before it begins"),
        ("--content repeated --compress-ratio 2", "no ratios"),
        ("--like slob --scan-pct 10", "like"),
        ("--rate 0", "is not a rate"),
        ("--commit 0", "not a time to commit"),
    ];
    for (keys, hint) in cases {
        let refusal = mindful.refusal(null("run", keys));
        assert!(refusal.contains(hint), "{keys:?}: {refusal}");
    }
    assert!(is_empty(&mindful));
}

/// The binary needs no shell, compiler or statistics package.
#[test]
fn a_run_calls_no_other_program() {
    let mindful = Mindful::new();
    let mut targets = vec!["null:".to_owned()];
    if cfg!(feature = "sqlite") {
        targets.push(format!("sqlite:{}", mindful.path("blocks.db").display()));
    }
    if cfg!(feature = "raw") {
        targets.push(format!("raw:{}", mindful.path("blocks").display()));
    }
    for target in targets {
        let short = format!("--scale 8MiB --schemas 1 --target {target}");
        let measured = "--warmup 0s --duration 1s --think-time 20ms..20ms";
        for (verb, more) in [("doctor", measured), ("load", ""), ("run", measured)] {
            let args = (verb, &short, more);
            let output = mindful.command(args).env("PATH", "").output().unwrap();
            // On a busy machine a window of a second may be invalid, but it is measured.
            assert!(output.status.code().unwrap() <= 1, "{args:?}: {output:?}");
        }
    }
}

/// As in a container with a user id chosen by the cluster.
#[test]
fn a_user_without_home_and_name_stores_runs_where_xdg_says() {
    if !rustix::process::geteuid().is_root() {
        return not_run("only root becomes another user");
    }
    let place = quick_place();
    let (binary, data) = (place.path().join("mindful"), place.path().join("data"));
    std::fs::copy(env!("CARGO_BIN_EXE_mindful"), &binary).unwrap();
    std::fs::create_dir(&data).unwrap();
    std::os::unix::fs::chown(&data, Some(4_000_000), Some(0)).unwrap();
    let mut run = Command::new(&binary);
    run.args(null("run", ""));
    run.uid(4_000_000).gid(0).current_dir(place.path()).env_clear().stdin(Stdio::null());
    let refusal = refused(&run.output().unwrap());
    assert!(refusal.contains("--store"), "{refusal}");
    let output = run.env("XDG_DATA_HOME", &data).output().unwrap();
    assert!(ended(&output), "{output:?}");
    assert_eq!(data.join("mindful/runs").read_dir().unwrap().count(), 1, "{output:?}");
}

#[test]
#[cfg(feature = "sqlite")]
fn the_usual_limit_of_open_files_does_not_bound_the_sessions() {
    let mindful = Mindful::new();
    let target = "sqlite:blocks.db";
    let mut few = Command::new("sh");
    few.args(["-c", "ulimit -S -n 48 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_mindful"), "run", "--target", target]);
    few.args(["--schemas", "1", "--scale", "8MiB", "--sessions", "64", "--warmup", "0s", "--duration", "1s"]);
    few.args(["--think-time", "100ms..100ms", "--format", "json"]);
    let output = mindful.at_home(few).output().unwrap();
    let run = json(&output);
    let failed = ["session-error", "failed", "no-step"];
    assert!(codes(&run).iter().all(|code| !failed.contains(code)), "{run:#}");
    assert_eq!(run["steps"][0]["sessions"], 64);
}
