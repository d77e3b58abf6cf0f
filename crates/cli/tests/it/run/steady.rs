//! Steps that go on until they are steady, from the command line; when they end is tested in simulated time, in
//! crates/runner.

use crate::mindful::{Mindful, json};

#[test]
fn the_window_that_was_found_is_the_one_that_is_shown() {
    let mindful = Mindful::new();
    let base = ["run", "--format", "json", "--target", "null:", "--scale", "1000", "--sessions", "20", "--steady"];
    let work = ["--work-unit", "1", "--null-latency", "50ms", "--duration", "10s", "--steady-cap", "20s"];
    let ran = json(&mindful.run(&[&base[..], &work].concat()));
    let measured = ran["steps"][0]["duration_s"].as_f64().unwrap();
    assert!((9.0..=21.0).contains(&measured), "{ran:#}");
    assert_eq!(json(&mindful.run(&["show", "--format", "json"])), ran);
}

#[test]
fn a_warm_up_or_an_amount_of_work_does_not_go_with_it() {
    let mindful = Mindful::new();
    for more in [["--warmup", "3s"], ["--ops", "100"]] {
        let refused = mindful.run(&[&["run", "--target", "null:", "--steady"], &more[..]].concat());
        let reported = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert!(refused.status.code() == Some(2) && reported.contains("leave one away"), "{reported}");
    }
}
