//! A clock that is set while sessions work. That of this host may not be; the null engine has one of its own.

use crate::bench::{Bench, Told};

fn run(bench: &Bench, args: &[&str]) -> Told {
    let null = ["--target", "null:", "--scale", "1000", "--null-latency", "1ms"];
    bench.told(&bench.run(&[&null[..], args].concat()))
}

#[test]
fn a_clock_that_was_set_in_the_window_is_told() {
    let bench = Bench::new();
    assert!(!run(&bench, &["--null-clock-offset", "1h"]).has("clock-step"));
    let stepped = run(&bench, &["--null-clock-offset", "1h", "--null-clock-step", "2s+400ms"]);
    stepped.assert_suspect("clock-step");
    assert!(stepped.evidence("clock-step").contains("moved 4"), "{}", stepped.evidence("clock-step"));
}
