//! Options of an engine have their own scope: flags, variables and plan files mean those of the target's engine.

use std::fs;
use std::process::Output;

use crate::mindful::Mindful;

/// Texts from the options of PostgreSQL, SQLite and the null engine.
const POSTGRES: &str = "--pg-version";
const SQLITE: &str = "--sqlite-page";
const NULL: &str = "--null-latency";

/// Whether the output has options of PostgreSQL, SQLite and the null engine.
fn shows(output: &Output) -> [bool; 3] {
    assert!(output.status.success(), "{output:?}");
    let help = std::str::from_utf8(&output.stdout).unwrap();
    [POSTGRES, SQLITE, NULL].map(|text| help.contains(text))
}

#[test]
fn only_the_list_of_an_engine_shows_its_options() {
    let mindful = Mindful::new();
    for verb in ["run", "sweep", "load", "doctor", "raw"] {
        for args in [&[verb, "--help"][..], &[verb, "--help-all"], &["help", verb], &[verb, "--target=null:", "-h"]] {
            assert_eq!(shows(&mindful.run(args)), [false; 3], "{args:?}");
        }
    }
    assert_eq!(shows(&mindful.run("engines")), [false; 3]);
    assert_eq!(shows(&mindful.run("engines postgres")), [true, false, false]);
    assert_eq!(shows(&mindful.run("engines sqlite")), [false, true, false]);
    assert_eq!(shows(&mindful.run("engines null")), [false, false, true]);
}

#[test]
fn a_flag_of_another_engine_is_refused_with_its_owner() {
    let mindful = Mindful::new();
    for (target, flag, owners) in [
        ("null:", ["--cache", "1MiB"], "--cache is an option of postgres, mysql, sqlite"),
        ("sqlite:x.db", ["--null-latency", "1ms"], "--null-latency is an option of null"),
        ("embedded", ["--iodepth", "4"], "--iodepth is an option of raw"),
    ] {
        let text = mindful.refusal((&format!("run --target {target}"), &flag));
        assert!(text.contains(owners) && text.contains("mindful engines"), "{text}");
    }
}

#[test]
fn plan_keys_of_another_engine_are_ignored() {
    let mindful = Mindful::new();
    fs::write(mindful.path("plan.toml"), "target = \"embedded\"\npg_version = \"17\"\ncache = \"9MiB\"\n").unwrap();
    let plan = |target: &str| {
        let mut command = mindful.command(("plan --plan plan.toml", target));
        let output = command.env("MINDFUL_IODEPTH", "4").output().unwrap();
        assert!(output.status.success(), "{output:?}");
        [output.stdout, output.stderr].map(|text| String::from_utf8(text).unwrap())
    };
    let [shown, message] = plan("--target sqlite:x.db");
    assert!(shown.contains("9MiB") && !shown.contains("pg_version"), "{shown}");
    let left_out = "MINDFUL_IODEPTH (of raw), pg_version in plan.toml (of postgres)";
    assert!(message.contains(left_out) && message.lines().count() == 1, "{message}");
    let [shown, message] = plan("");
    assert!(shown.contains("pg_version") && !message.contains("pg_version"), "{shown}\n{message}");
}

#[test]
fn a_switch_is_on_by_its_name_alone_and_takes_a_value() {
    let mindful = Mindful::new();
    let given = |args: &str| {
        let text = mindful.text(("plan --target=sqlite:x", args));
        let line = text.lines().find(|line| line.split_whitespace().next() == Some("shared")).unwrap().to_owned();
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!(given(""), "off");
    for on in ["--shared", "--shared on", "--shared=on", "--shared --sessions 2"] {
        assert_eq!(given(on), "on", "{on:?}");
    }
    assert_eq!(given("--shared off"), "off");
    mindful.refuses([("plan --target=sqlite:x --shared perhaps", "perhaps")]);
}
