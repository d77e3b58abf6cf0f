//! Exports for programs that store figures over time, read like their readers.

use std::collections::BTreeMap;

use crate::charts::sweep;
use mindful_analyze::analyze;
use mindful_core::record::run::Run;
use mindful_report::export::benchmarks;
use serde::Deserialize;

/// A sweep in which the first load was measured twice.
fn twice() -> Run {
    let mut run = sweep(&[2, 4, 2]);
    run.steps[2].head.point.pass = 1;
    run
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Measure {
    value: f64,
    lower_value: Option<f64>,
    upper_value: Option<f64>,
}

#[test]
fn bencher_reads_a_benchmark_a_load_with_its_bounds() {
    let run = twice();
    let analysis = analyze(&run);
    let read: BTreeMap<String, BTreeMap<String, Measure>> =
        serde_json::from_str(&benchmarks::bencher((&run, &analysis))).unwrap();
    assert_eq!(read.len(), 2);
    let (again, once) = (&read["postgres://bench@db.example/bench, 2 sessions"], read.values().nth(1).unwrap());
    let rate = &again["blocks-per-second"];
    assert!(rate.lower_value.unwrap() <= rate.value && rate.value <= rate.upper_value.unwrap());
    assert!(once["latency-p99"].value > 0.0 && once["latency-p99"].lower_value.is_none());
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    name: String,
    unit: String,
    value: f64,
    #[serde(rename = "range")]
    _range: Option<String>,
    extra: String,
}

#[test]
fn github_action_benchmark_gets_figures_by_direction() {
    let run = twice();
    let analysis = analyze(&run);
    let read =
        |more: bool| -> Vec<Entry> { serde_json::from_str(&benchmarks::github((&run, &analysis), more)).unwrap() };
    assert!(
        read(true).iter().all(|entry| entry.unit.ends_with("/s") && entry.value > 0.0 && entry.extra.contains("VALID"))
    );
    assert!(read(false).iter().all(|entry| entry.unit == "us"));
    let p99 = read(false).iter().filter(|entry| entry.name.ends_with("latency-p99")).count();
    assert_eq!((p99, read(true).len()), (2, 4));
}

/// One sample of OpenMetrics: name, labels, value.
fn sample(line: &str) -> (String, BTreeMap<String, String>, f64) {
    let (name, rest) = line.split_once('{').unwrap();
    let (mut labels, mut rest) = (BTreeMap::new(), rest);
    while let Some((label, after)) = rest.split_once("=\"") {
        let (mut value, mut chars) = (String::new(), after.char_indices());
        let end = loop {
            match chars.next().unwrap() {
                (_, '\\') => value.push(match chars.next().unwrap().1 {
                    'n' => '\n',
                    c => c,
                }),
                (at, '"') => break at,
                (_, c) => value.push(c),
            }
        };
        labels.insert(label.trim_start_matches(',').to_owned(), value);
        rest = &after[end + 1..];
    }
    (name.to_owned(), labels, rest.trim_start_matches('}').trim().parse().unwrap())
}

#[test]
fn openmetrics_ends_with_its_mark_and_keeps_hostile_names() {
    let mut run = sweep(&[1, 2]);
    run.head.target = "a\"b\\c\nd".into();
    let text = benchmarks::openmetrics((&run, &analyze(&run)));
    assert!(text.ends_with("\n# EOF\n"));
    let samples: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).map(sample).collect();
    assert!(samples.iter().all(|(name, labels, _)| {
        text.contains(&format!("# TYPE {name} gauge\n")) && labels["target"] == run.head.target
    }));
    let p99: Vec<_> = samples.iter().filter(|(name, ..)| name == "mindful_latency_p99_seconds").collect();
    assert!(p99.len() == 2 && p99.iter().all(|(.., value)| (0.001..0.01).contains(value)), "{text}");
}
