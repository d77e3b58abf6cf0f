//! Where each value of a plan comes from.

use crate::mindful::{Mindful, text};

#[test]
fn the_plan_shows_where_each_value_comes_from() {
    let mindful = Mindful::new();
    std::fs::write(mindful.path("plan.toml"), "schemas = 3\nthreads = 2\nupdate_pct = 12.5\nwork_unit = 8\n").unwrap();
    let mut command = mindful.command("plan --plan plan.toml --work-unit 16");
    let text = text(&command.env("MINDFUL_THREADS", "4").output().unwrap());
    for (key, value, origin) in [
        ("work_unit", "16", "--work-unit"),
        ("threads", "4", "MINDFUL_THREADS"),
        ("schemas", "3", "plan.toml"),
        ("update_pct", "12.5", "plan.toml"),
        ("duration", "30s", "default"),
    ] {
        let line = text.lines().find(|line| line.split(' ').next() == Some(key)).unwrap();
        assert!(line.ends_with(origin) && line.split_whitespace().nth(1) == Some(value), "{line}");
    }
}
