//! `mindful engines`.

use crate::mindful::Mindful;

#[test]
fn every_engine_is_shown_with_what_it_can_do() {
    let engines = Mindful::new().json(&["engines"]);
    let names: Vec<_> = engines.as_array().unwrap().iter().map(|engine| engine["name"].as_str().unwrap()).collect();
    assert!(names.contains(&"null") && names.contains(&"postgres") && names.contains(&"sqlite"), "{names:?}");
    assert!(engines[0]["capabilities"]["updates"].is_boolean());
}

#[test]
fn the_least_role_is_printed_as_sql() {
    let mindful = Mindful::new();
    let text = mindful.text(&["engines", "postgres", "--grants"]);
    for right in ["CREATE ROLE", "GRANT CREATE, TEMPORARY ON DATABASE", "pg_monitor", "pg_checkpoint"] {
        assert!(text.contains(right), "{right}: {text}");
    }
    assert_eq!(mindful.run(&["engines", "null", "--grants"]).status.code(), Some(2));
    assert_eq!(mindful.run(&["engines", "oracel"]).status.code(), Some(2));
}
