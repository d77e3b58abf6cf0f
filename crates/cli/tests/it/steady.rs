//! Steps that go on until they are steady, on the null engine whose course is known.

use std::process::{Child, Stdio};

use serde_json::Value;

use crate::mindful::{Mindful, json};

/// Begins a step of that signal; several run side by side, since each takes more than a minute.
fn begun(mindful: &Mindful, more: &[&str]) -> Child {
    let base = ["run", "--format", "json", "--target", "null:", "--scale", "1000", "--sessions", "20", "--steady"];
    // Long waits: what a busy host adds to each is a small share of it.
    let work = ["--work-unit", "1", "--null-latency", "50ms", "--null-spread", "0.3"];
    let mut command = mindful.command(&[&base[..], &work, more].concat());
    command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap()
}

fn findings(ran: &Value, code: &str) -> Vec<String> {
    let all = ran["findings"].as_array().unwrap().iter();
    all.filter(|f| f["code"] == code).map(|f| f["evidence"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_step_ends_when_it_is_steady_and_one_that_never_is_tells_why() {
    let signals: [&[&str]; 6] = [
        &["--steady-cap", "240s"],
        &["--steady-cap", "240s", "--null-signal", "ramp:0.4:15s"],
        &["--steady-cap", "75s", "--null-signal", "ramp:4:300s"],
        &["--steady-cap", "90s", "--null-signal", "cycle:40%:20s"],
        &["--steady-cap", "85s", "--null-signal", "step:2@45s"],
        &["--steady-cap", "75s", "--null-hit-ratio", "80", "--null-cache-fill", "120s"],
    ];
    let stores = signals.map(|_| Mindful::new());
    let steps: Vec<Child> = stores.iter().zip(signals).map(|(store, signal)| begun(store, signal)).collect();
    let ran: Vec<Value> = steps.into_iter().map(|step| json(&step.wait_with_output().unwrap())).collect();
    for (ran, store) in ran.iter().zip(&stores) {
        let shown = json(&store.run(&["show", "--format", "json"]));
        assert_eq!(&shown, ran, "the window that was found is the one that is shown");
    }
    for steady in &ran[..2] {
        assert!(findings(steady, "not-steady").is_empty(), "{steady:#}");
        let measured = steady["steps"][0]["duration_s"].as_f64().unwrap();
        assert!((59.0..230.0).contains(&measured), "ended by itself, after a whole window: {measured}");
    }
    // The faster start is left out: what is told is the level after it.
    let rate = |ran: &Value| ran["steps"][0]["blocks_visited_per_s"].as_f64().unwrap();
    assert!((rate(&ran[1]) / rate(&ran[0]) - 2.5).abs() < 0.25, "{} {}", rate(&ran[1]), rate(&ran[0]));
    for (restless, reason) in
        ran[2..].iter().zip(["throughput moved by", "a cycle of", "blocks/s at ", "the hit ratio"])
    {
        assert_eq!(restless["validity"], "suspect", "{restless:#}");
        assert!(findings(restless, "not-steady")[0].contains(reason), "{restless:#}");
    }
    let (before, after, at_s) = change(&findings(&ran[4], "not-steady")[0]);
    assert!((after / before - 0.5).abs() < 0.05 && (at_s - 45.0).abs() <= 3.0, "{before} {after} {at_s}");
}

/// The levels before and after, and the instant, of `from B to A blocks/s at T s`.
fn change(evidence: &str) -> (f64, f64, f64) {
    let told = evidence.split_once("from ").unwrap().1;
    let mut words = told.split(' ');
    let mut number = |skip| words.nth(skip).unwrap().parse().unwrap();
    (number(0), number(1), number(2))
}

#[test]
fn a_warm_up_or_an_amount_of_work_does_not_go_with_it() {
    let mindful = Mindful::new();
    for more in [["--warmup", "3s"], ["--ops", "100"]] {
        let refused = mindful.run(&[&["run", "--target", "null:", "--steady"], &more[..]].concat());
        let told = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(2) && told.contains("leave one away"), "{told}");
    }
}
