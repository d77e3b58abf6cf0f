//! Options of an engine have their own scope: flags, variables and plan files mean those of the target's engine.

use std::fs;

use crate::mindful::{Mindful, message, printed, text};

#[test]
fn only_the_list_of_an_engine_shows_its_options() {
    let mindful = Mindful::new();
    let shows = |args: &str| {
        let help = printed(&mindful.succeed(args));
        // Of PostgreSQL, of SQLite and of the null engine.
        ["--pg-version", "--sqlite-page", "--null-latency"].map(|option| help.contains(option))
    };
    for verb in ["run", "sweep", "load", "doctor", "raw"] {
        for args in ["VERB --help", "VERB --help-all", "help VERB", "VERB --target=null: -h"] {
            assert_eq!(shows(&args.replace("VERB", verb)), [false; 3], "{args} of {verb}");
        }
    }
    assert_eq!(shows("engines"), [false; 3]);
    assert_eq!(shows("engines postgres"), [true, false, false]);
    assert_eq!(shows("engines sqlite"), [false, true, false]);
    assert_eq!(shows("engines null"), [false, false, true]);
}

#[test]
fn a_flag_of_another_engine_is_refused_with_its_owner() {
    Mindful::new().refuses_all([
        ("run --target null: --cache 1MiB", "--cache is an option of postgres, mysql, sqlite…mindful engines"),
        ("run --target sqlite:x.db --null-latency 1ms", "--null-latency is an option of null…mindful engines"),
        ("run --target embedded --iodepth 4", "--iodepth is an option of raw…mindful engines"),
    ]);
}

#[test]
fn plan_keys_of_another_engine_are_ignored() {
    let mindful = Mindful::new();
    fs::write(mindful.path("plan.toml"), "target = \"embedded\"\npg_version = \"17\"\ncache = \"9MiB\"\n").unwrap();
    let plan = |target: &str| {
        let mut command = mindful.command(("plan --plan plan.toml", target));
        let output = command.env("MINDFUL_IODEPTH", "4").output().unwrap();
        [text(&output), message(&output)]
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
        let mut words = text.split_whitespace().skip_while(|word| *word != "shared");
        words.nth(1).unwrap().to_owned()
    };
    assert_eq!(given(""), "off");
    for on in ["--shared", "--shared on", "--shared=on", "--shared --sessions 2"] {
        assert_eq!(given(on), "on", "{on:?}");
    }
    assert_eq!(given("--shared off"), "off");
    mindful.refuses("plan --target=sqlite:x --shared perhaps", "perhaps");
}
