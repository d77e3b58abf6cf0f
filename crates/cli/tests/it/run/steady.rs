//! Steps that continue until they are steady, from the command line; when they end is tested in simulated time, in
//! crates/runner.

use crate::mindful::Mindful;

#[test]
fn the_window_that_was_found_is_the_one_that_is_shown() {
    let mindful = Mindful::new();
    let work = "--sessions 20 --work-unit 1 --null-latency 50ms";
    let ran = mindful.measured((&work, "--steady --duration 10s --steady-cap 20s"));
    let measured = ran["steps"][0]["duration_s"].as_f64().unwrap();
    assert!((9.0..=21.0).contains(&measured), "{ran:#}");
    assert_eq!(mindful.json("show"), ran);
}
