//! Whole sweeps from the command line; their single steps are tested in simulated time, in crates/runner.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use rustix::process::Signal;
use serde_json::Value;

use crate::mindful::{
    Mindful, Words, assert_has, cell, figure, kill, message, null, printed, steps, unwrapped, wait_until,
};
use crate::stops::signal;

fn sweep(mindful: &Mindful, args: impl Words) -> Value {
    mindful.json(null("sweep", ("--work-unit 1", args)))
}

#[test]
fn a_killed_sweep_continues_and_loses_or_repeats_nothing() {
    let mindful = Mindful::new();
    let ladder = "--sessions 1,2,3,4,5,6 --duration 1s --tag night";
    let begun_steps = || mindful.records().matches("\"event\":\"started\"").count();
    // Killed at several instants of a step, then resumed until it is done.
    for after_ms in [1_200, 2_400, 1_800] {
        let before = begun_steps();
        let begun = mindful.runs().exists();
        let args = if begun { "sweep --resume night".words() } else { null("sweep", ladder) };
        let mut child = mindful.start(&args);
        while begun_steps() == before && child.try_wait().unwrap().is_none() {
            std::thread::sleep(Duration::from_millis(20));
        }
        std::thread::sleep(Duration::from_millis(after_ms));
        kill(&mut child);
    }
    let before = mindful.json("show night");
    let began = Instant::now();
    let swept = mindful.json("sweep --resume night");
    assert!(began.elapsed() < Duration::from_mins(1));
    let steps = steps(&swept);
    let sessions: BTreeSet<_> = steps.iter().map(|s| s["sessions"].as_u64().unwrap()).collect();
    assert_eq!((sessions, steps.len()), (BTreeSet::from([1, 2, 3, 4, 5, 6]), 7), "six steps and the drift check");
    assert_eq!(swept["finished"], true);
    // Steps that were finished before the last kill are unchanged.
    let kept = before["steps"].as_array().unwrap();
    let finished = kept.len().saturating_sub(1);
    assert!(finished >= 1, "{before:#}");
    assert_eq!(&kept[..finished], &steps[..finished]);
}

#[test]
fn an_interrupted_sweep_offers_its_continuation() {
    let mindful = Mindful::new();
    let child = mindful.start_piped(null("sweep", "--sessions 1,2 --duration 2s"));
    wait_until("no step begins", || mindful.records().contains("\"event\":\"started\""));
    signal(&child, Signal::INT);
    let interrupted = child.wait_with_output().unwrap();
    assert_eq!(interrupted.status.code(), Some(130), "{interrupted:?}");
    let message = message(&interrupted);
    let offered = message.split_once(": `mindful ").and_then(|(_, rest)| rest.strip_suffix("` continues\n"));
    let resumed = mindful.json(offered.unwrap_or_else(|| panic!("{message}")));
    assert_eq!((&resumed["finished"], steps(&resumed).len()), (&Value::from(true), 3), "{resumed:#}");
}

#[test]
fn a_run_that_is_no_sweep_is_not_resumed() {
    let mindful = Mindful::new();
    let ran = mindful.measured("--tag plain");
    let before = mindful.records();
    let refusal = mindful.refusal("sweep --resume plain");
    assert!(refusal.contains(ran["id"].as_str().unwrap()) && refusal.contains("is not a sweep"), "{refusal}");
    assert_eq!(mindful.records(), before);
}

#[test]
fn a_sweeps_report_shows_its_drift_and_each_finding_once() {
    let mindful = Mindful::new();
    sweep(&mindful, "--sessions 1,2 --duration 500ms");
    let text = mindful.text("show --full");
    assert!(text.contains("again at the end did"), "{text}");
    assert_eq!(text.matches("few-operations:").count(), 1, "{text}");
    assert!(text.contains("few-operations: steps 1 to 3: "), "{text}");
}

/// A fit is not a measurement: the two are separate.
#[test]
fn a_fitted_capacity_is_held_apart_from_what_was_measured() {
    let mindful = Mindful::new();
    let curve = "--null-latency 2ms --null-capacity 4 --sessions 1,2,3,4,6,8,12,16 --duration 300ms";
    let text = mindful.text(null("sweep", ("--work-unit 1", &curve)));
    let line = |part: &str| text.lines().find(|line| line.contains(part)).unwrap_or_else(|| panic!("{text}"));
    let fitted = line("fitted capacity ");
    assert!(fitted.contains("(95 % interval ") && !fitted.contains("measured"), "{text}");
    assert!(line("highest measured").contains(" blocks/s at ") && !text.contains("most that was reached"), "{text}");
}

/// With too few operations a percentile is unknown: there is no answer, and no success.
#[test]
fn a_search_that_cannot_decide_fails_with_the_needed_time() {
    let mindful = Mindful::new();
    let search = |duration: &str| {
        let load = format!("--sessions 1..2 --null-latency 5ms --work-unit 1 --duration {duration}");
        // Far from the latency of an operation, on a busy host too: only their number matters.
        mindful.run(null("sweep", ("--max-iops-at p99<=900ms", &load)))
    };
    let undecided = search("90ms");
    let text = printed(&undecided);
    assert_eq!(undecided.status.code(), Some(1), "{text}");
    assert_has(&text, "objective-undecided…needs 1,000 operations, and 1 session did");
    assert!(text.starts_with("no load met p99<=900ms: "), "{text}");
    let found = search("1500ms");
    let progress = message(&found);
    assert_eq!(found.status.code(), Some(0), "{progress}");
    assert_has(progress, "is the highest load that meets p99<=900ms, confirmed…: p99 ");
    let parts = ", the highest load tried): within p99<=900ms…confirmed by step ";
    assert_has(unwrapped(&printed(&found)), parts);
    let objective = &mindful.json("show latest")["objective"];
    assert!(objective["objective"] == "p99<=900ms" && figure(objective, "blocks_visited_per_s") > 0.0, "{objective:#}");
}

/// The target's times vary more than its loads differ; by chance a search may still end otherwise.
#[test]
fn loads_that_differ_by_less_than_the_noise_are_a_range() {
    let mindful = Mindful::new();
    let noisy = "--null-latency 2ms --null-contention 0.002 --null-spread 0.5";
    let search = |seed: u32| {
        let load = format!("--sessions 1..32 --work-unit 1 --duration 600ms --seed {seed}");
        message(&mindful.run(null("sweep", ("--max-iops-at p50<=1.85ms", &noisy, &load))))
    };
    let range = (1..=8).map(search).find(|progress| progress.contains(" is in this range"));
    let shown = mindful.text("show latest");
    assert_has(range.unwrap_or(shown), "differ by less than their noise: ");
}

#[test]
fn a_sweep_is_exported_with_a_row_a_step_that_adds_up() {
    let mindful = Mindful::new();
    let more = "--sessions 1,4 --update-pct 50 --duration 1s --null-cpu 10us --tag table";
    // Where sessions begin late on a busy host, counters are not known at the begin of so short a window.
    let is_whole = |swept: &Value| steps(swept).iter().all(|step| step["physical_reads_per_s"].is_number());
    let swept = (0..5).map(|_| sweep(&mindful, more)).find(is_whole).unwrap();
    let csv = mindful.text("export table");
    let rows = csv.lines().count() - 1;
    assert_eq!(rows, steps(&swept).len(), "{csv}");
    let number = |row, name: &str| -> f64 { cell(&csv, row, name).parse().unwrap() };
    let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-9;
    for row in 1..=rows {
        assert_eq!(cell(&csv, row, "point"), format!("sessions {}", cell(&csv, row, "sessions")), "{csv}");
        for way in ["read", "write"] {
            let (mib, blocks) = (format!("{way}_mib_per_s"), format!("physical_{way}s_per_s"));
            assert!(near(number(row, &mib), number(row, &blocks) * 8192.0 / 1_048_576.0), "{way}: {csv}");
        }
        assert!(near(number(row, "log_mib_per_s"), number(row, "log_bytes_per_s") / 1_048_576.0), "{csv}");
        for kind in ["select", "update"] {
            let at = |name: &str| number(row, &format!("{kind}_{name}_us"));
            // After a stall an operation may begin late and take less.
            assert!(at("mean") > 500.0 && at("p50") <= at("p95") && at("p95") <= at("max"), "{csv}");
        }
        assert!(number(row, "db_cores") > 0.0 && (0.0..=1.0).contains(&number(row, "hit_ratio")), "{csv}");
        assert!(!cell(&csv, row, "verdict").is_empty() && !cell(&csv, row, "validity").is_empty(), "{csv}");
    }
    assert_eq!((1..=rows).filter(|row| cell(&csv, *row, "drift_check") == "yes").count(), 1, "{csv}");
}
