//! Where each value of a plan comes from.

use crate::mindful::{Mindful, text};

#[test]
fn the_plan_shows_where_each_value_comes_from() {
    let mindful = Mindful::new();
    let mut command = mindful.command("plan --work-unit 16");
    let text = text(&command.env("MINDFUL_UPDATE_PCT", "30").output().unwrap());
    let line = |key: &str| text.lines().find(|line| line.starts_with(key)).unwrap().to_owned();
    assert!(line("work_unit").ends_with("--work-unit") && line("work_unit").contains("16"));
    assert!(line("update_pct").ends_with("MINDFUL_UPDATE_PCT") && line("update_pct").contains("30"));
    assert!(line("duration").ends_with("default"));
}
