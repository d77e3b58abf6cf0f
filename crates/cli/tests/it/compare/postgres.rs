//! Comparisons of plans on a real PostgreSQL.

use std::path::Path;
use std::process::{Command, Stdio};

use mindful_conformance::place;
use serde_json::Value;

fn plan(folder: &Path, name: &str, own: &str) {
    let text = format!(
        "data_dir = \"{}\"\nschemas = 1\nscale = \"16MiB\"\nwork_unit = 8\n{own}\n",
        folder.join("data").display()
    );
    std::fs::write(folder.join(name), text).unwrap();
}

fn compare(folder: &Path, sides: [&str; 2], more: &[&str]) -> Value {
    let output = Command::new(env!("CARGO_BIN_EXE_mindful"))
        .args(["compare", "--format", "json", "--repeat", "5", "--run"])
        .args(sides)
        .args(more)
        .current_dir(folder)
        .env("MINDFUL_STORE", folder.join("store"))
        .stdin(Stdio::null())
        .output()
        .unwrap();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {output:?}"))
}

/// The first of three comparisons that decided something, the third as it is: on a full host one run of five may get little.
fn decided(compare: impl Fn() -> Value) -> Value {
    let decided = (0..2).map(|_| compare()).find(|reported| reported["verdict"] != "not_decided");
    decided.unwrap_or_else(compare)
}

#[test]
fn cached_data_is_faster_and_a_plan_is_no_faster_than_itself() {
    let place = place();
    let folder = place.path();
    // At full speed a session reads most of it in the warm-up: what follows is served by a cache that holds it.
    let cached = |buffers: &str| {
        let short = "warmup = \"200ms\"\nduration = \"600ms\"\nmode = \"lio\"\nsessions = 1";
        format!("{short}\nset = \"shared_buffers={buffers}\"")
    };
    plan(folder, "small.toml", &cached("2MB"));
    plan(folder, "large.toml", &cached("64MB"));
    let reported = decided(|| compare(folder, ["small.toml", "large.toml"], &[]));
    assert_eq!(reported["verdict"], "faster", "{reported:#}");
    let (ratio, least) = (&reported["ratio"], &reported["interval"][0]);
    assert!(ratio.as_f64() > Some(1.5) && least.as_f64() > Some(1.0), "{reported:#}");
    assert_eq!(reported["differing_facts"][0]["fact"], "database cache", "{reported:#}");
    println!("2 MB against 64 MB: {} {}", reported["ratio"], reported["interval"]);

    // A plan whose rate its pauses set: what else uses the CPUs moves it by a few percent at most, so that five runs
    // a side decide on any machine. Of one that takes what the CPUs leave, five runs may decide nothing.
    let paced = "warmup = \"100ms\"\nduration = \"600ms\"\nmode = \"lio\"\nsessions = 8\nthink_time = \"100ms..100ms\"";
    plan(folder, "paced.toml", paced);
    let reported = decided(|| compare(folder, ["paced.toml", "paced.toml"], &["--margin", "10%"]));
    assert_eq!(reported["verdict"], "no_meaningful_difference", "{reported:#}");
    assert_eq!(reported["differing_facts"].as_array().unwrap().len(), 0, "{reported:#}");
    println!("a plan with itself: {} {}", reported["ratio"], reported["interval"]);
}
