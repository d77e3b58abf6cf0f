//! How runs on the null engine end: what they print and store, and their exit codes.

use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mindful_conformance::{not_run, quick_place};
use rustix::process::Signal;
use serde_json::Value;

use crate::mindful::{
    Mindful, Words, assert_has, codes, ended, figure, id, json, json_lines, kill, null, refused, wait_until,
};
use crate::stops::signal;

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
    assert!((figure(step, "update_pct_realised") - 20.0).abs() < 0.1, "{step:#}");
    assert!((figure(step, "duration_s") - 2.0).abs() < 0.02, "{step:#}");
    assert_eq!(mindful.json("show latest"), ran);
    mindful.shows("list", id(&ran));
}

#[test]
fn a_session_that_dies_makes_the_run_invalid_and_is_named() {
    let mindful = Mindful::new();
    let (code, ran) = judged(&mindful, "--duration 5s --sessions 3 --null-fail 2@1s");
    assert_eq!((code, ran["validity"].as_str().unwrap()), (Some(1), "invalid"), "{ran:#}");
    assert_has(ran["findings"].to_string(), "session 3: the null engine ended it");
}

#[test]
fn an_interrupted_run_is_readable_and_marked() {
    let mindful = Mindful::new();
    let child = mindful.start_piped(null("run", "--format json --duration 5m"));
    wait_until("no run folder appeared", || mindful.count_runs() > 0);
    std::thread::sleep(Duration::from_secs(2));
    let signalled = Instant::now();
    signal(&child, Signal::INT);
    let output = child.wait_with_output().unwrap();
    assert!(signalled.elapsed() < Duration::from_secs(30), "{:?}", signalled.elapsed());
    assert_eq!(output.status.code(), Some(130));
    let ran = json(&output);
    assert_eq!(ran["validity"], "invalid");
    assert_has(ran["findings"].to_string(), "interrupted");
}

#[test]
fn a_killed_run_stays_readable_and_is_unfinished() {
    let mindful = Mindful::new();
    let mut child = mindful.start(null("run", "--duration 5m"));
    wait_until("no run folder appeared", || mindful.count_runs() > 0);
    std::thread::sleep(Duration::from_secs(2));
    kill(&mut child);
    let shown = mindful.json("show");
    assert_eq!(shown["finished"], false);
    assert_ne!(shown["validity"], "valid");
}

#[test]
fn a_fixed_amount_of_work_is_done_exactly() {
    let mindful = Mindful::new();
    let (code, ran) = judged(&mindful, "--ops 500 --sessions 3 --null-latency 1ms");
    assert_eq!(code, Some(0), "{ran:#}");
    let mut done = [0; 3];
    for slice in json_lines(&mindful.record(&ran)).iter().filter(|event| event["event"] == "slice") {
        let session = slice["session"].as_u64().unwrap() as usize;
        done[session] += slice["report"]["ops"][0]["ops"].as_u64().unwrap();
    }
    assert_eq!(done, [500, 500, 500]);
}

#[test]
fn realised_choices_are_reported_alone_and_together() {
    let mindful = Mindful::new();
    let ran = mindful.measured("--duration 2s --update-pct 50 --work-unit 1 --hot-spot-size 200 --hot-spot-share 50");
    let choices = &ran["steps"][0]["choices"];
    let (alone, together) = (&choices["alone_pct"], figure(&choices["joint_pct"], "update+hot_spot"));
    assert!((figure(alone, "update") - 50.0).abs() < 0.2 && (figure(alone, "hot_spot") - 50.0).abs() < 2.0);
    // Independent: together as often as the product of both.
    assert!((together - 25.0).abs() < 2.0, "{choices:#}");
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
    let (_, ran) = judged(&mindful, ("--duration 3s", rate));
    let events = json_lines(&mindful.record(&ran));
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
    assert!(["p50_us", "p95_us", "p99_us", "p999_us"].iter().all(|name| select[name].is_null()), "{select:#}");
    assert_has(ran["findings"].to_string(), "not-sustained");
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

/// The binary needs no shell, compiler or statistics package.
#[test]
fn a_run_calls_no_other_program() {
    let mindful = Mindful::new();
    for target in [
        "null:",
        #[cfg(feature = "sqlite")]
        "sqlite:blocks.db",
        #[cfg(feature = "raw")]
        "raw:blocks",
    ] {
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
    assert_has(refused(&run.output().unwrap()), "--store");
    let output = run.env("XDG_DATA_HOME", &data).output().unwrap();
    assert!(ended(&output), "{output:?}");
    assert_eq!(data.join("mindful/runs").read_dir().unwrap().count(), 1, "{output:?}");
}

#[test]
#[cfg(feature = "sqlite")]
fn the_usual_limit_of_open_files_does_not_bound_the_sessions() {
    let mindful = Mindful::new();
    let mut few = Command::new("sh");
    few.args(["-c", "ulimit -S -n 48 && exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_mindful")]);
    few.args("run --target sqlite:blocks.db --schemas 1 --scale 8MiB --sessions 64 --format json".words());
    few.args("--warmup 0s --duration 1s --think-time 100ms..100ms".words());
    let run = json(&mindful.at_home(few).output().unwrap());
    let failed = ["session-error", "failed", "no-step"];
    assert!(codes(&run).iter().all(|code| !failed.contains(code)), "{run:#}");
    assert_eq!(run["steps"][0]["sessions"], 64);
}
