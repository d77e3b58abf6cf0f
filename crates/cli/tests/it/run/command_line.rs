//! Output of a run besides its report, and the places where it stores files.

use std::fs;
use std::path::Path;

use crate::mindful::{Mindful, assert_has, ended, message, null, refused, text};

#[test]
fn quiet_leaves_the_report_alone() {
    let mindful = Mindful::new();
    let ran = mindful.run(null("run", ""));
    assert!(!ran.stderr.is_empty(), "it prints its progress: {ran:?}");
    for flag in ["-q", "--quiet"] {
        let ran = mindful.run(null("run", flag));
        assert!(ran.stderr.is_empty() && text(&ran).contains("blocks visited"), "{ran:?}");
    }
    mindful.refuses(null("run", "--duration 30 -q"), "`30` is not a time");
}

#[test]
fn at_sixty_columns_nothing_breaks() {
    let mindful = Mindful::new();
    let sweep = null("sweep", "--duration 500ms -q --sessions 1,2,4");
    for args in [&sweep[..], &["list".to_owned()]] {
        let narrow = text(&mindful.command(args.to_vec()).env("COLUMNS", "60").output().unwrap());
        let long = narrow.lines().find(|line| line.chars().count() > 60 && !line.contains(" in /"));
        assert_eq!(long, None, "{narrow}");
        assert_has(&narrow, "blocks/s…no room for: ");
    }
    let in_full = mindful.text("list");
    assert!(!in_full.contains("no room for") && in_full.contains("when (UTC)"), "a pipe gets all: {in_full}");
}

#[test]
fn many_steps_are_announced_with_number_and_duration() {
    let mindful = Mindful::new();
    let progress = |verb, more: &str| message(&mindful.run(null(verb, ("--duration 2s", more))));
    let swept = progress("sweep", "--sessions 1,2");
    let before = swept.split("measuring").next().unwrap();
    assert!(before.lines().any(|line| line == "3 steps, about 15 s"), "{swept}");
    let noise = progress("run", "--repeat 2");
    let lines: Vec<&str> = noise.lines().collect();
    assert_eq!(lines.first(), Some(&"2 runs, about 10 s"), "{noise}");
    let second = lines.iter().any(|line| line.starts_with("run 2 of 2; left: 1 run, about "));
    assert!(lines.contains(&"run 1 of 2") && second, "{noise}");
}

#[test]
fn an_empty_variable_leaves_nothing_in_the_current_folder() {
    let (mindful, home) = (Mindful::new(), Mindful::new());
    let with = |home: &Path| {
        let mut command = mindful.command(null("run", ""));
        command.env("MINDFUL_STORE", "").env("MINDFUL_DATA_DIR", "");
        command.env("HOME", home).env_remove("XDG_DATA_HOME");
        command.output().unwrap()
    };
    let stored = with(home.folder());
    assert!(ended(&stored), "{stored:?}");
    assert!(home.path(".local/share/mindful/runs").is_dir());
    assert_has(refused(&with(Path::new("home"))), "no home directory…--store");
    assert_eq!(fs::read_dir(mindful.folder()).unwrap().count(), 0);
}
