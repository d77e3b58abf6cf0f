//! What the command line does beside measuring: where a plan goes, what is asked, what is kept quiet.

use std::fs;
use std::process::Output;

use crate::mindful::{Mindful, refused};

fn out(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

#[test]
fn a_plan_made_of_an_old_configuration_goes_to_stdout() {
    let mindful = Mindful::new();
    fs::write(mindful.folder().join("slob.conf"), "UPDATE_PCT=25\nRUN_TIME=2\nSCALE=8M\nWORK_UNIT=16\n").unwrap();
    let plan = out(&mindful.run(&["import", "slob.conf"]));
    assert!(plan.contains("\nupdate_pct = "), "{plan}");
    assert!(!mindful.folder().join("mindful.toml").exists());
    let told = out(&mindful.run(&["import", "slob.conf", "--output", "old plan.toml"]));
    assert_eq!(fs::read_to_string(mindful.folder().join("old plan.toml")).unwrap(), plan);
    let first = told.lines().next().unwrap();
    assert!(first.contains("`mindful plan --plan 'old plan.toml'` shows it") && !first.contains("every"), "{told}");
    let shown = out(&mindful.run(&["plan", "--plan", "old plan.toml", "--target", "null:"]));
    assert!(shown.contains("old plan.toml"), "{shown}");
}

#[test]
fn a_plan_that_every_command_will_use_is_told_to_be_one() {
    let mindful = Mindful::new();
    fs::write(mindful.folder().join("slob.conf"), "UPDATE_PCT=25\n").unwrap();
    fs::create_dir(mindful.folder().join("elsewhere")).unwrap();
    for (output, everywhere) in [("mindful.toml", true), ("./mindful.toml", true), ("elsewhere/mindful.toml", false)] {
        let told = out(&mindful.run(&["import", "slob.conf", "--yes", "--output", output]));
        let first = told.lines().next().unwrap();
        assert_eq!(first.contains("every command in this folder will use it"), everywhere, "{told}");
        assert_eq!(first.contains(&format!("--plan {output}")), !everywhere, "{told}");
    }
}

#[test]
fn quiet_leaves_the_report_alone() {
    let mindful = Mindful::new();
    let run = ["run", "--target", "null:", "--scale", "1000", "--warmup", "0s", "--duration", "1s"];
    let ran = mindful.run(&run);
    assert!(!ran.stderr.is_empty(), "its progress is told: {ran:?}");
    for flag in ["-q", "--quiet"] {
        let ran = mindful.run(&[&run[..], &[flag]].concat());
        let told = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(ran.stderr.is_empty() && told.contains("blocks visited"), "{ran:?}");
    }
    let wrong = refused(&mindful.run(&["run", "--target", "null:", "--duration", "30", "-q"]));
    assert!(wrong.contains("`30` is not a time"), "errors are told all the same: {wrong}");
}

#[cfg(feature = "raw")]
#[test]
fn a_mistyped_path_of_bare_files_makes_no_file() {
    let mindful = Mindful::new();
    for verb in [&["run", "--target", "raw:typo"][..], &["raw", "typo"], &["sweep", "--target", "raw:typo"]] {
        let told = refused(&mindful.run(&[verb, &["-q"]].concat()));
        assert!(told.contains("typo does not exist") && told.contains("mindful load --target raw:typo"), "{told}");
        assert!(!mindful.folder().join("typo").exists(), "{told}");
    }
    let run = ["raw", "--warmup", "0s", "--duration", "500ms", "-q"];
    let made = mindful.run(&[&run[..], &["meant", "--scale", "8MiB"]].concat());
    assert!(matches!(made.status.code(), Some(0 | 1)) && mindful.folder().join("meant").exists(), "{made:?}");
    let loaded = mindful.run(&["load", "--target", "raw:loaded", "--scale", "8MiB", "-q"]);
    assert!(loaded.status.success() && mindful.folder().join("loaded").exists(), "{loaded:?}");
    let again = mindful.run(&[&run[..], &["loaded"]].concat());
    assert!(matches!(again.status.code(), Some(0 | 1)), "what is there is read without a word: {again:?}");
}
