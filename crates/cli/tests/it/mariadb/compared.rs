//! A run of PostgreSQL and one of MariaDB on one machine, compared.

use serde_json::Value;

use crate::lies::bench::Bench;
use crate::mindful::template;
use crate::mindful::{PAUSES, json, refused};

#[test]
fn a_mariadb_is_compared_with_a_postgres_and_differs() {
    let bench = Bench::new().with_private();
    let mariadb = bench.path("mariadb");
    template::mariadb_to(&mariadb);
    let short = ["--duration", "1s", PAUSES[0], PAUSES[1]];
    let one = bench.private(&short);
    let data = mariadb.display().to_string();
    let other = bench.reported(&bench.run(&[&["--target", "mariadb:", "--data-dir", &data], &short[..]].concat()));
    let id = |run: &Value| run["id"].as_str().unwrap().to_owned();
    let sides = ["compare", "--baseline", &id(&one.run), "--candidate", &id(&other.run)].map(str::to_owned);
    let sides = sides.each_ref().map(String::as_str);

    let line = refused(&bench.command(&sides).output().unwrap());
    for part in
        ["engine (postgres against mysql)", "block size (8192 against 16384)", "one of ballast in each page", "--force"]
    {
        assert!(line.contains(part), "no `{part}` in: {line}");
    }

    let forced = json(&bench.command(&[&sides[..], &["--force", "--format", "json"]].concat()).output().unwrap());
    let differing = forced["differing_facts"].as_array().unwrap();
    let fact = |name: &str| differing.iter().find(|fact| fact["fact"] == name).unwrap_or_else(|| panic!("{forced:#}"));
    assert_eq!(fact("block size")["candidate"][0], "16384", "{forced:#}");
    assert!(fact("row layout")["candidate"][0].as_str().unwrap().contains("ballast"), "{forced:#}");
    assert!(forced["ratio"].as_f64().is_some_and(|ratio| ratio > 0.0), "{forced:#}");
}
