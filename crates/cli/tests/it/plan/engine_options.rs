//! Options of an engine have their own scope: help, flags, variables and plan files mean those of the target's engine.

use std::fs;
use std::process::Output;

use crate::mindful::Mindful;

/// Of PostgreSQL's, SQLite's and the null engine's help.
const POSTGRES: &str = "Size of the database's own cache";
const SQLITE: &str = "SQLite's page cache for each session";
const NULL: &str = "--null-latency";

/// Of a text, whether it shows PostgreSQL's, SQLite's and the null engine's options.
fn shows(output: &Output) -> [bool; 3] {
    assert!(output.status.success(), "{output:?}");
    let help: Vec<_> = std::str::from_utf8(&output.stdout).unwrap().split_whitespace().collect();
    let help = help.join(" ");
    [POSTGRES, SQLITE, NULL].map(|text| help.contains(text))
}

#[test]
fn help_shows_the_options_of_the_engine_of_the_target() {
    let mindful = Mindful::new();
    assert_eq!(shows(&mindful.run(&["run", "--help"])), [true, false, false]);
    for verb in ["run", "sweep", "load", "doctor", "noise"] {
        assert_eq!(shows(&mindful.run(&[verb, "--target", "sqlite:x.db", "--help"])), [false, true, false], "{verb}");
        assert_eq!(shows(&mindful.run(&[verb, "--help", "--target=null:"])), [false, false, true], "{verb}");
    }
    assert_eq!(shows(&mindful.run(&["run", "--target", "nonsense:", "--help"])), [false; 3]);
    let raw = mindful.run(&["raw", "--help"]);
    assert_eq!(shows(&raw), [false; 3]);
    assert!(String::from_utf8(raw.stdout).unwrap().contains("--iodepth"), "the options of files");
}

#[test]
fn a_variable_or_a_plan_file_names_the_engine_for_help_too() {
    let mindful = Mindful::new();
    let by_variable = mindful.command(&["run", "--help"]).env("MINDFUL_TARGET", "sqlite:x.db").output().unwrap();
    assert_eq!(shows(&by_variable), [false, true, false]);
    fs::write(mindful.path("plan.toml"), "target = \"null:\"\n").unwrap();
    assert_eq!(shows(&mindful.run(&["run", "--plan", "plan.toml", "--help"])), [false, false, true]);
    assert_eq!(
        shows(&mindful.run(&["run", "--target", "sqlite:x.db", "--plan", "plan.toml", "--help"])),
        [false, true, false]
    );
    fs::rename(mindful.path("plan.toml"), mindful.path("mindful.toml")).unwrap();
    assert_eq!(shows(&mindful.run(&["run", "--help"])), [false, false, true]);
}

#[test]
fn a_flag_of_another_engine_says_in_one_line_whose_it_is() {
    let mindful = Mindful::new();
    for (target, flag, owners) in [
        ("null:", ["--cache", "1MiB"], "--cache is an option of postgres, mysql, sqlite"),
        ("sqlite:x.db", ["--null-latency", "1ms"], "--null-latency is an option of null"),
        ("embedded", ["--iodepth", "4"], "--iodepth is an option of raw"),
    ] {
        let text = mindful.refusal(&[&["run", "--target", target], &flag[..]].concat());
        assert!(text.contains(owners) && text.contains("mindful engines"), "{text}");
    }
}

#[test]
fn what_a_plan_file_gives_for_another_engine_is_left_out() {
    let mindful = Mindful::new();
    fs::write(mindful.path("plan.toml"), "target = \"embedded\"\npg_version = \"17\"\ncache = \"9MiB\"\n").unwrap();
    let plan = |target: &[&str]| {
        let mut command = mindful.command(&[&["plan", "--plan", "plan.toml"], target].concat());
        let output = command.env("MINDFUL_IODEPTH", "4").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
    };
    let [shown, message] = plan(&["--target", "sqlite:x.db"]);
    assert!(shown.contains("9MiB") && !shown.contains("pg_version"), "{shown}");
    let left_out = "MINDFUL_IODEPTH (of raw), pg_version in plan.toml (of postgres)";
    assert!(message.contains(left_out) && message.lines().count() == 1, "{message}");
    let [shown, message] = plan(&[]);
    assert!(shown.contains("pg_version") && !message.contains("pg_version"), "{shown}\n{message}");
}

#[test]
fn a_switch_is_on_by_its_name_alone_and_takes_a_value() {
    let mindful = Mindful::new();
    let given = |args: &[&str]| {
        let text = mindful.text(&[&["plan", "--target=sqlite:x"], args].concat());
        let line = text.lines().find(|line| line.split_whitespace().next() == Some("shared")).unwrap().to_owned();
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!(given(&[]), "off");
    for on in [&["--shared"][..], &["--shared", "on"], &["--shared=on"], &["--shared", "--sessions", "2"]] {
        assert_eq!(given(on), "on", "{on:?}");
    }
    assert_eq!(given(&["--shared", "off"]), "off");
    let refusal = mindful.refusal(&["plan", "--target=sqlite:x", "--shared", "perhaps"]);
    assert!(refusal.contains("perhaps"), "{refusal}");
}
