//! A run of PostgreSQL and one of MariaDB on one machine, compared.

use mindful_conformance::place;

use crate::mindful::{Mindful, PAUSES, private};

#[test]
fn a_mariadb_is_compared_with_a_postgres_and_differs() {
    let mindful = Mindful::beside_others(place()).with_private();
    private::mariadb_to(&mindful.path("mariadb"));
    let one = mindful.private_run(("--duration 1s", PAUSES));
    let other = mindful.short_run(("--target mariadb: --data-dir mariadb --duration 1s", PAUSES));
    let sides = ["compare", one.id(), other.id()];
    mindful.refuses(
        sides,
        "engine (postgres against mysql)…block size (8192 against 16384)…one of ballast in each page…--force",
    );

    let forced = mindful.json((sides, "--force"));
    let differing = forced["differing_facts"].as_array().unwrap();
    let fact = |name: &str| differing.iter().find(|fact| fact["fact"] == name).unwrap_or_else(|| panic!("{forced:#}"));
    assert_eq!(fact("block size")["candidate"][0], "16384", "{forced:#}");
    assert!(fact("row layout")["candidate"][0].as_str().unwrap().contains("ballast"), "{forced:#}");
    assert!(forced["ratio"].as_f64().is_some_and(|ratio| ratio > 0.0), "{forced:#}");
}
