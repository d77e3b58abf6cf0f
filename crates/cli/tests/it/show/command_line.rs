//! What the command line does beside measuring: where a plan goes, what is asked, what is kept quiet.

use std::fs;
use std::path::Path;
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
    let reported = out(&mindful.run(&["import", "slob.conf", "--output", "old plan.toml"]));
    assert_eq!(fs::read_to_string(mindful.folder().join("old plan.toml")).unwrap(), plan);
    let first = reported.lines().next().unwrap();
    assert!(first.contains("`mindful plan --plan 'old plan.toml'` shows it") && !first.contains("every"), "{reported}");
    let shown = out(&mindful.run(&["plan", "--plan", "old plan.toml", "--target", "null:"]));
    assert!(shown.contains("old plan.toml"), "{shown}");
}

#[test]
fn a_plan_that_every_command_will_use_is_called_one() {
    let mindful = Mindful::new();
    fs::write(mindful.folder().join("slob.conf"), "UPDATE_PCT=25\n").unwrap();
    fs::create_dir(mindful.folder().join("elsewhere")).unwrap();
    for (output, everywhere) in [("mindful.toml", true), ("./mindful.toml", true), ("elsewhere/mindful.toml", false)] {
        let reported = out(&mindful.run(&["import", "slob.conf", "--yes", "--output", output]));
        let first = reported.lines().next().unwrap();
        assert_eq!(first.contains("every command in this folder will use it"), everywhere, "{reported}");
        assert_eq!(first.contains(&format!("--plan {output}")), !everywhere, "{reported}");
    }
}

#[test]
fn quiet_leaves_the_report_alone() {
    let mindful = Mindful::new();
    let run =
        ["run", "--target", "null:", "--null-latency", "1ms", "--scale", "1000", "--warmup", "0s", "--duration", "1s"];
    let ran = mindful.run(&run);
    assert!(!ran.stderr.is_empty(), "its progress is reported: {ran:?}");
    for flag in ["-q", "--quiet"] {
        let ran = mindful.run(&[&run[..], &[flag]].concat());
        let reported = String::from_utf8_lossy(&ran.stdout).into_owned();
        assert!(ran.stderr.is_empty() && reported.contains("blocks visited"), "{ran:?}");
    }
    let wrong = refused(&mindful.run(&["run", "--target", "null:", "--duration", "30", "-q"]));
    assert!(wrong.contains("`30` is not a time"), "errors are reported all the same: {wrong}");
}

#[cfg(feature = "raw")]
#[test]
fn a_mistyped_path_of_bare_files_makes_no_file() {
    let mindful = Mindful::new();
    for verb in [&["run", "--target", "raw:typo"][..], &["raw", "typo"], &["sweep", "--target", "raw:typo"]] {
        let reported = refused(&mindful.run(&[verb, &["-q"]].concat()));
        assert!(
            reported.contains("typo does not exist") && reported.contains("mindful load --target raw:typo"),
            "{reported}"
        );
        assert!(!mindful.folder().join("typo").exists(), "{reported}");
    }
    let run = ["raw", "--warmup", "0s", "--duration", "500ms", "-q"];
    let made = mindful.run(&[&run[..], &["meant", "--scale", "8MiB"]].concat());
    assert!(matches!(made.status.code(), Some(0 | 1)) && mindful.folder().join("meant").exists(), "{made:?}");
    let loaded = mindful.run(&["load", "--target", "raw:loaded", "--scale", "8MiB", "-q"]);
    assert!(loaded.status.success() && mindful.folder().join("loaded").exists(), "{loaded:?}");
    let again = mindful.run(&[&run[..], &["loaded"]].concat());
    assert!(matches!(again.status.code(), Some(0 | 1)), "what is there is read without a word: {again:?}");
}

#[test]
fn at_sixty_columns_nothing_breaks() {
    let mindful = Mindful::new();
    let sweep = ["sweep", "--target", "null:", "--scale", "1000", "--warmup", "0s", "--duration", "500ms", "-q"];
    let swept =
        mindful.command(&[&sweep[..], &["--sessions", "1,2,4"]].concat()).env("COLUMNS", "60").output().unwrap();
    let listed = mindful.command(&["list"]).env("COLUMNS", "60").output().unwrap();
    for output in [swept, listed] {
        let reported = String::from_utf8(output.stdout).unwrap();
        let long = reported.lines().find(|line| line.chars().count() > 60 && !line.contains(" in /"));
        assert_eq!(long, None, "{reported}");
        assert!(reported.contains("blocks/s") && reported.contains("no room for: "), "{reported}");
    }
    let in_full = out(&mindful.run(&["list"]));
    assert!(!in_full.contains("no room for") && in_full.contains("when (UTC)"), "a pipe gets all: {in_full}");
}

/// What is reported where `answer` is typed on a terminal of its own; `None` where there is no program that has one.
#[cfg(feature = "raw")]
fn typed(mindful: &Mindful, answer: &str) -> Option<String> {
    use std::io::Write as _;
    let raw = format!("{} raw typo --warmup 0s --duration 300ms -q", env!("CARGO_BIN_EXE_mindful"));
    let mut terminal = std::process::Command::new("script");
    terminal.args(["-qec", &raw, "/dev/null"]).current_dir(mindful.folder()).env("MINDFUL_STORE", mindful.folder());
    let started = terminal.stdin(std::process::Stdio::piped()).stdout(std::process::Stdio::piped()).spawn();
    let mut terminal = started.ok()?;
    terminal.stdin.take()?.write_all(format!("{answer}\n").as_bytes()).ok()?;
    Some(String::from_utf8_lossy(&terminal.wait_with_output().ok()?.stdout).into_owned())
}

#[cfg(feature = "raw")]
#[test]
fn on_a_terminal_a_file_that_is_not_there_is_asked_for() {
    let mindful = Mindful::new();
    let Some(reported) = typed(&mindful, "n") else {
        mindful_conformance::not_run("`script` of util-linux, which has a terminal to ask on, is not there");
        return;
    };
    assert!(reported.contains("typo does not exist: make and fill it? [y/N]"), "{reported}");
    assert!(
        reported.contains("name a file or device that does") && !mindful.folder().join("typo").exists(),
        "{reported}"
    );
}

#[test]
fn many_steps_tell_beforehand_how_many_and_how_long() {
    let mindful = Mindful::new();
    let short = ["--target", "null:", "--scale", "1000", "--null-latency", "1ms", "--warmup", "0s", "--duration", "2s"];
    let reported = |verb: &[&str]| {
        let ran = mindful.run(&[verb, &short].concat());
        String::from_utf8(ran.stderr).unwrap()
    };
    let swept = reported(&["sweep", "--sessions", "1,2"]);
    let before = swept.split("measuring").next().unwrap();
    assert!(before.lines().any(|line| line == "3 steps, about 15 s"), "{swept}");
    let noise = reported(&["noise", "--repeat", "2"]);
    let lines: Vec<&str> = noise.lines().collect();
    assert_eq!(lines.first(), Some(&"2 runs, about 10 s"), "{noise}");
    assert!(lines.contains(&"run 1 of 2") && lines.contains(&"run 2 of 2"), "{noise}");
}

#[test]
fn an_empty_variable_leaves_nothing_in_the_current_folder() {
    let (mindful, home) = (Mindful::new(), Mindful::new());
    let run =
        ["run", "--target", "null:", "--scale", "1000", "--null-latency", "1ms", "--warmup", "0s", "--duration", "1s"];
    let with = |home: &Path| {
        let mut command = mindful.command(&run);
        command.env("MINDFUL_STORE", "").env("MINDFUL_DATA_DIR", "").env("HOME", home).env_remove("XDG_DATA_HOME");
        command.output().unwrap()
    };
    let stored = with(home.folder());
    assert!(matches!(stored.status.code(), Some(0 | 1)), "{stored:?}");
    assert!(home.folder().join(".local/share/mindful/runs").is_dir());
    let refusal = refused(&with(Path::new("home")));
    assert!(refusal.contains("no home directory") && refusal.contains("--store"), "{refusal}");
    assert_eq!(fs::read_dir(mindful.folder()).unwrap().count(), 0);
}
