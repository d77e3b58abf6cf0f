//! A run of PostgreSQL and one of MariaDB on one machine, compared.

use serde_json::Value;

use mindful_conformance::place;

use crate::mindful::{Mindful, PAUSES, private};

#[test]
fn a_mariadb_is_compared_with_a_postgres_and_differs() {
    let mindful = Mindful::beside_others(place()).with_private();
    let mariadb = mindful.path("mariadb");
    private::mariadb_to(&mariadb);
    let short = ["--duration", "1s", PAUSES[0], PAUSES[1]];
    let one = mindful.private_run(&short);
    let data = mariadb.display().to_string();
    let other =
        mindful.report(&mindful.short_run(&[&["--target", "mariadb:", "--data-dir", &data], &short[..]].concat()));
    let id = |run: &Value| run["id"].as_str().unwrap().to_owned();
    let sides = ["compare", &id(&one.run), &id(&other.run)].map(str::to_owned);
    let sides = sides.each_ref().map(String::as_str);

    let line = mindful.refusal(&sides);
    for part in
        ["engine (postgres against mysql)", "block size (8192 against 16384)", "one of ballast in each page", "--force"]
    {
        assert!(line.contains(part), "no `{part}` in: {line}");
    }

    let forced = mindful.json(&[&sides[..], &["--force"]].concat());
    let differing = forced["differing_facts"].as_array().unwrap();
    let fact = |name: &str| differing.iter().find(|fact| fact["fact"] == name).unwrap_or_else(|| panic!("{forced:#}"));
    assert_eq!(fact("block size")["candidate"][0], "16384", "{forced:#}");
    assert!(fact("row layout")["candidate"][0].as_str().unwrap().contains("ballast"), "{forced:#}");
    assert!(forced["ratio"].as_f64().is_some_and(|ratio| ratio > 0.0), "{forced:#}");
}
