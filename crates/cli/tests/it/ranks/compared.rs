//! Ranks together measure the same as one process: runs of both on one real server, compared.

use crate::mindful::users_server::UsersServer;
use crate::mindful::{id, short_run};
use crate::ranks::processes::{report_of, start_ranks};

/// Runs a side: fewer may show a difference by chance.
const TIMES: usize = 4;

#[test]
fn one_process_of_16_sessions_and_four_ranks_of_4_are_alike() {
    let (mindful, server) = UsersServer::beside_others("");
    let url = server.url();
    // Pauses set the rate, and the data is cached: what else uses the CPUs moves it by a few percent at most. With
    // equal pauses a window would have one operation more or less for all sessions at once.
    let work = format!("--target {url} --sessions 16 --work-unit 8 --think-time 25ms..75ms -q");
    let plan = short_run((work, "--warmup 500ms --duration 2s"));
    let (mut one, mut four) = (Vec::new(), Vec::new());
    for _ in 0..TIMES {
        one.push(id(&report_of(vec![mindful.start_piped(&plan)], &[0, 1])).to_owned());
        four.push(id(&report_of(start_ranks(&mindful, 4, &plan), &[0, 1])).to_owned());
    }
    let compared = mindful.json(["compare", &one.join(","), &four.join(","), "--margin", "10%"]);
    // Next to other tests, runs may differ too much among themselves to decide; the medians of the two sides do not.
    let near = compared["ratio"].as_f64().is_some_and(|ratio| (ratio - 1.0).abs() < 0.1);
    let undecided = compared["verdict"] == "not_decided" && near;
    assert!(undecided || compared["verdict"] == "no_meaningful_difference", "{compared:#}");
    let differing = compared["differing_facts"].as_array().unwrap();
    assert!(differing.iter().all(|difference| difference["fact"] == "ranks"), "{compared:#}");
    println!("one process against four ranks: {} {}", compared["ratio"], compared["interval"]);
}
