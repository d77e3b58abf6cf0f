//! Comparisons of plans on a real PostgreSQL.

use mindful_conformance::place;
use serde_json::Value;

use crate::mindful::{Mindful, Words};

fn plan(mindful: &Mindful, name: &str, own: &str) {
    let data = mindful.private_folder();
    let text = format!("data_dir = \"{}\"\nschemas = 1\nscale = \"16MiB\"\nwork_unit = 8\n{own}\n", data.display());
    std::fs::write(mindful.path(name), text).unwrap();
}

fn compare(mindful: &Mindful, [baseline, candidate]: [&str; 2], more: impl Words) -> Value {
    mindful.json((&format!("compare --repeat 5 --run {baseline} {candidate}"), more))
}

/// The first of up to three comparisons that is decided: on a full host one run of five may get little CPU.
fn decided(compare: impl Fn() -> Value) -> Value {
    let decided = (0..2).map(|_| compare()).find(|compared| compared["verdict"] != "not_decided");
    decided.unwrap_or_else(compare)
}

#[test]
fn cached_data_is_faster_and_a_plan_is_no_faster_than_itself() {
    let mindful = Mindful::at(place());
    // At full speed a session reads most of it in the warm-up: then the cache serves the rest.
    let cached = |buffers: &str| {
        let short = "warmup = \"200ms\"\nduration = \"600ms\"\nmode = \"lio\"\nsessions = 1";
        format!("{short}\nset = \"shared_buffers={buffers}\"")
    };
    plan(&mindful, "small.toml", &cached("2MB"));
    plan(&mindful, "large.toml", &cached("64MB"));
    let compared = decided(|| compare(&mindful, ["small.toml", "large.toml"], ""));
    assert_eq!(compared["verdict"], "faster", "{compared:#}");
    let (ratio, least) = (&compared["ratio"], &compared["interval"][0]);
    assert!(ratio.as_f64() > Some(1.5) && least.as_f64() > Some(1.0), "{compared:#}");
    assert_eq!(compared["differing_facts"][0]["fact"], "database cache", "{compared:#}");
    println!("2 MB against 64 MB: {} {}", compared["ratio"], compared["interval"]);

    // A plan with a rate set by its pauses: other use of the CPUs moves it by a few percent at most, so five runs a
    // side decide on any machine. At full speed five runs may not decide.
    let paced = "warmup = \"100ms\"\nduration = \"600ms\"\nmode = \"lio\"\nsessions = 8\nthink_time = \"100ms..100ms\"";
    plan(&mindful, "paced.toml", paced);
    let compared = decided(|| compare(&mindful, ["paced.toml", "paced.toml"], "--margin 10%"));
    assert_eq!(compared["verdict"], "no_meaningful_difference", "{compared:#}");
    assert_eq!(compared["differing_facts"].as_array().unwrap().len(), 0, "{compared:#}");
    println!("a plan with itself: {} {}", compared["ratio"], compared["interval"]);
}
