//! `mindful engines`.

use crate::mindful::Mindful;

#[test]
fn every_engine_is_shown_with_its_capabilities() {
    let engines = Mindful::new().json("engines");
    let names: Vec<_> = engines.as_array().unwrap().iter().map(|engine| engine["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"null") && names.contains(&"postgres") && names.contains(&"sqlite"), "{names:?}");
    assert!(engines[0]["capabilities"]["updates"].is_boolean());
}

#[test]
fn the_least_role_is_printed_as_sql() {
    let mindful = Mindful::new();
    let rights = "CREATE ROLE…GRANT CREATE, TEMPORARY ON DATABASE…pg_monitor…pg_checkpoint";
    mindful.shows("engines postgres --grants", rights);
    mindful.refuses("engines null --grants", "this engine has no roles");
    mindful.refuses("engines oracel", "unknown engine `oracel`");
}

#[test]
fn a_target_fills_in_the_names_of_its_role() {
    let mindful = Mindful::new();
    let targets = [
        ("postgres", "postgres://ada@db/shop", "GRANT CREATE, TEMPORARY ON DATABASE \"shop\" TO \"ada\";"),
        ("mysql", "mysql://ada@db/shop", "GRANT ALL ON `shop`.* TO `ada`;"),
        ("mysql", "mysql://ada@db", "GRANT ALL ON `mindful`.* TO `ada`;"),
        ("oracle", "oracle://ada@db:1521/shop", "GRANT CREATE SESSION, CREATE TABLE TO ada;"),
    ];
    let built = |engine: &str| engine != "oracle" || cfg!(feature = "oracle");
    for (engine, target, granted) in targets.into_iter().filter(|(engine, ..)| built(engine)) {
        let script = mindful.text(format!("engines {engine} --grants --target {target}"));
        assert!(script.lines().any(|line| line == granted), "{target}: {script}");
        assert!(!script.contains("bench"), "{target}: {script}");
        let lines: Vec<&str> = script.lines().collect();
        let mut ends = lines.windows(2).filter(|pair| pair[0].starts_with("--") && !pair[1].starts_with("--"));
        assert!(ends.all(|pair| pair[0].ends_with('.')), "a sentence is cut: {script}");
    }
}
