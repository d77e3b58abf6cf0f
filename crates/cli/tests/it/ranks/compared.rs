//! Ranks together measure the same as one process: runs of both on one real server, compared.

use std::process::{Child, Stdio};

use serde_json::Value;

use crate::mindful::short_run;
use crate::mindful::users_server::UsersServer;
use crate::ranks::processes::outcome;

/// Runs a side: fewer may show a difference by chance.
const TIMES: usize = 4;

#[test]
fn one_process_of_16_sessions_and_four_ranks_of_4_are_alike() {
    let (mindful, server) = UsersServer::beside_others("");
    let url = server.url();
    // Pauses set the rate, and the data is cached: what else uses the CPUs moves it by a few percent at most. With
    // equal pauses a window would have one operation more or less for all sessions at once.
    let work = ["--target", &url, "--sessions", "16", "--work-unit", "8", "--think-time", "25ms..75ms", "-q"];
    let time = ["--warmup", "500ms", "--duration", "2s"];
    let plan = short_run(&[&work[..], &time].concat());
    let alone = || mindful.command(&plan).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let four = || {
        let rank = |rank: u32| {
            let mut command = mindful.command(&[&plan[..], &["--ranks", "4"]].concat());
            command.env("JOB_COMPLETION_INDEX", rank.to_string());
            command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
        };
        (0..4).map(rank).collect::<Vec<_>>()
    };
    let (mut one_each, mut four_each) = (Vec::new(), Vec::new());
    for _ in 0..TIMES {
        one_each.push(report_of(vec![alone()]));
        four_each.push(report_of(four()));
    }
    let id = |run: &Value| run["id"].as_str().unwrap().to_owned();
    let (one, four): (Vec<_>, Vec<_>) = (one_each.iter().map(id).collect(), four_each.iter().map(id).collect());
    let compared = mindful.json(&["compare", &one.join(","), &four.join(","), "--margin", "10%"]);
    // Next to other tests, runs may differ too much among themselves to decide; the medians of the two sides do not.
    let near = compared["ratio"].as_f64().is_some_and(|ratio| (ratio - 1.0).abs() < 0.1);
    let undecided = compared["verdict"] == "not_decided" && near;
    assert!(undecided || compared["verdict"] == "no_meaningful_difference", "{compared:#}");
    let differing = compared["differing_facts"].as_array().unwrap();
    assert!(differing.iter().all(|difference| difference["fact"] == "ranks"), "{compared:#}");
    println!("one process against four ranks: {} {}", compared["ratio"], compared["interval"]);
}

fn report_of(children: Vec<Child>) -> Value {
    let all: Vec<_> = children.into_iter().map(outcome).collect();
    assert!(all.iter().all(|(code, ..)| matches!(code, Some(0 | 1))), "{all:?}");
    serde_json::from_str(&all[0].1).unwrap()
}
