//! Runs of others, and others on the same runs: nothing in a run folder is executed or followed unasked.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::PathBuf;
use std::process::{Child, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, mkfifoat};

use crate::mindful::measured::measured;
use crate::mindful::{Mindful, json};

const SHORT: [&str; 6] = ["--scale", "1000", "--warmup", "0s", "--duration", "1s"];

/// Whether a run came to its end: on a busy host it may be found invalid, which is not the question here.
fn ended(output: &Output) -> bool {
    matches!(output.status.code(), Some(0 | 1))
}

/// A finished sweep on the null engine whose hooks leave files in the current folder; its id.
fn swept(mindful: &Mindful, more: &[&str]) -> String {
    let output = mindful.run(&[&["sweep", "--target", "null:", "--sessions", "1,2"], &SHORT[..], more].concat());
    assert!(ended(&output), "{output:?}");
    only_run(mindful)
}

fn only_run(mindful: &Mindful) -> String {
    let mut runs = fs::read_dir(mindful.folder().join("runs")).unwrap();
    runs.next().unwrap().unwrap().file_name().into_string().unwrap()
}

fn folder(mindful: &Mindful, id: &str) -> PathBuf {
    mindful.folder().join("runs").join(id)
}

/// The one line of a refusal with exit code 2.
fn refused(output: &Output) -> String {
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(text.lines().count(), 1, "{text}");
    text
}

/// Waits for the first step of the run that `child` makes.
fn wait_for_a_step(mindful: &Mindful, child: &mut Child) {
    let began = Instant::now();
    loop {
        let runs = fs::read_dir(mindful.folder().join("runs")).into_iter().flatten();
        let mut logs = runs.filter_map(|run| fs::read_to_string(run.ok()?.path().join("run.jsonl")).ok());
        if logs.any(|log| log.contains("\"event\":\"step\"")) {
            return;
        }
        assert!(began.elapsed() < Duration::from_mins(1) && child.try_wait().unwrap().is_none(), "no step begins");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_sweep_is_not_resumed_while_it_is_being_written() {
    let mindful = Mindful::new();
    let sweep = ["sweep", "--target", "null:", "--scale", "1000", "--warmup", "0s", "--duration", "20s"];
    let mut command = mindful.command(&[&sweep[..], &["--sessions", "1,2"]].concat());
    let mut first = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_for_a_step(&mindful, &mut first);
    let reported = refused(&mindful.run(&["sweep", "--resume", "latest"]));
    assert!(reported.contains("being written by another mindful"), "{reported}");
    assert!(mindful.run(&["show"]).status.success(), "reading needs no lock");
    // However the first one ends, the run is free again and its record whole.
    first.kill().unwrap();
    first.wait().unwrap();
    assert!(mindful.run(&["show"]).status.success());
    let mut second = mindful.command(&["sweep", "--resume", "latest"]);
    let mut second = second.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    assert!(second.try_wait().unwrap().is_none(), "it goes on");
    second.kill().unwrap();
    second.wait().unwrap();
}

#[test]
fn hooks_of_an_imported_run_are_never_executed() {
    let (there, here) = (Mindful::new(), Mindful::new());
    let touch = |name: &str| format!("touch {}", here.folder().join(name).display());
    let hooks = [touch("before"), touch("after"), touch("end")];
    let all = ["--hook-before", &hooks[0], "--hook-after", &hooks[1], "--hook-end", &hooks[2]];
    let id = swept(&there, &[&all[..], &["--tag", "theirs"]].concat());
    let touched = || ["before", "after", "end"].map(|name| fs::remove_file(here.folder().join(name)).is_ok());
    assert_eq!(touched(), [true; 3]);
    assert!(ended(&there.run(&["sweep", "--resume", &id])));
    assert_eq!(touched(), [true; 3], "a run of one's own goes on as it began");

    let record = folder(&there, &id).join("run.jsonl");
    let text = fs::read_to_string(&record).unwrap();
    let set = r#""data_dir":{"value":"/nowhere","origin":{"flag":"--data-dir"}},"hook_after":{"value""#;
    let written = text.replacen(r#""hook_after":{"value""#, set, 1);
    assert_ne!(written, text);
    fs::write(&record, written).unwrap();
    assert!(here.run(&["import", folder(&there, &id).to_str().unwrap()]).status.success());
    let reported = refused(&here.run(&["sweep", "--resume", &id]));
    assert!(reported.contains("made elsewhere") && reported.contains("--target"), "{reported}");
    let resumed = here.run(&["sweep", "--resume", &id, "--target", "null:"]);
    let reported = String::from_utf8_lossy(&resumed.stderr).into_owned();
    assert!(ended(&resumed) && reported.contains("hook_before") && reported.contains("data_dir"), "{reported}");
    for verb in [&["show"][..], &["export"], &["export", "--as", "html"], &["export", "--as", "jsonl"], &["list"]] {
        assert!(here.run(verb).status.success(), "{verb:?}");
    }
    assert_eq!(touched(), [false; 3]);
    let asked = here.run(&["sweep", "--resume", &id, "--target", "null:", "--hook-end", &hooks[2]]);
    assert!(ended(&asked), "{asked:?}");
    assert_eq!(touched(), [false, false, true], "hooks of this command line");
}

#[test]
fn a_run_that_others_may_have_written_executes_nothing() {
    let mindful = Mindful::new();
    let id = swept(&mindful, &["--hook-end", "touch touched"]);
    fs::remove_file(mindful.folder().join("touched")).unwrap();
    for open in [mindful.folder().join("runs"), folder(&mindful, &id)] {
        let mode = |mode| fs::set_permissions(&open, Permissions::from_mode(mode)).unwrap();
        mode(0o777);
        for verb in [&["sweep", "--resume", &id][..], &["rerun", &id]] {
            assert!(refused(&mindful.run(verb)).contains("made elsewhere"), "{verb:?}");
        }
        mode(0o700);
    }
    fs::set_permissions(folder(&mindful, &id), Permissions::from_mode(0o777)).unwrap();
    assert!(ended(&mindful.run(&["sweep", "--resume", &id, "--target", "null:"])));
    assert!(!mindful.folder().join("touched").exists());
}

#[test]
fn pipes_devices_and_links_for_a_record_end_at_once() {
    let mindful = Mindful::new();
    let ran = measured(&mindful, &["--duration", "1s"]);
    let id = ran["id"].as_str().unwrap();
    let log = folder(&mindful, id).join("run.jsonl");
    let kept = mindful.folder().join("kept.jsonl");
    fs::rename(&log, &kept).unwrap();
    let kinds: [&dyn Fn(); 3] = [
        &|| mkfifoat(CWD, &log, Mode::from_raw_mode(0o600)).unwrap(),
        &|| symlink("/dev/zero", &log).unwrap(),
        &|| symlink(&kept, &log).unwrap(),
    ];
    for make in kinds {
        make();
        let began = Instant::now();
        let verbs: [&[&str]; 4] =
            [&["show", id], &["export", id], &["export", id, "--as", "jsonl"], &["sweep", "--resume", id]];
        for verb in verbs {
            let output = mindful.run(verb);
            assert!(!output.status.success() && output.stdout.is_empty(), "{verb:?}: {output:?}");
            assert_eq!(String::from_utf8_lossy(&output.stderr).lines().count(), 1, "{verb:?}: {output:?}");
        }
        assert!(mindful.run(&["list"]).status.success());
        assert!(!mindful.run(&["import", folder(&mindful, id).to_str().unwrap()]).status.success());
        assert!(began.elapsed() < Duration::from_mins(1));
        fs::remove_file(&log).unwrap();
    }
}

#[test]
fn show_makes_a_corrupt_summary_anew_as_list_says() {
    let mindful = Mindful::new();
    let ran = measured(&mindful, &["--duration", "1s"]);
    let summary = folder(&mindful, ran["id"].as_str().unwrap()).join("summary.json");
    let whole = fs::read(&summary).unwrap();
    let elsewhere = mindful.folder().join("elsewhere");
    fs::write(&elsewhere, "mine").unwrap();
    for damage in ["{\"format\":1,", "link"] {
        fs::remove_file(&summary).unwrap();
        if damage == "link" {
            symlink(&elsewhere, &summary).unwrap();
        } else {
            fs::write(&summary, damage).unwrap();
        }
        let listed = String::from_utf8(mindful.run(&["list"]).stdout).unwrap();
        assert!(listed.contains("mindful show"), "{listed}");
        assert_eq!(json(&mindful.run(&["show", "--format", "json"])), ran);
        assert_eq!(fs::read(&summary).unwrap(), whole);
        assert!(!String::from_utf8(mindful.run(&["list"]).stdout).unwrap().contains("corrupt"));
    }
    assert_eq!(fs::read(&elsewhere).unwrap(), b"mine");
}

#[test]
fn manual_pages_go_through_no_link_and_wait_for_no_pipe() {
    let mindful = Mindful::new();
    let (victim, page) = (mindful.folder().join("victim"), mindful.folder().join("pages/mindful-run.1"));
    fs::write(&victim, "precious").unwrap();
    fs::create_dir(page.parent().unwrap()).unwrap();
    let kinds: [&dyn Fn(); 2] =
        [&|| symlink(&victim, &page).unwrap(), &|| mkfifoat(CWD, &page, Mode::from_raw_mode(0o600)).unwrap()];
    for make in kinds {
        make();
        let reported = refused(&mindful.run(&["man", "pages"]));
        assert!(reported.contains("mindful-run.1") && reported.contains("no regular file"), "{reported}");
        fs::remove_file(&page).unwrap();
    }
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
    for _ in 0..2 {
        assert!(mindful.run(&["man", "pages"]).status.success(), "pages are made anew");
        assert_eq!(fs::metadata(&page).unwrap().permissions().mode() & 0o777, 0o644);
    }
}

#[test]
fn an_output_never_goes_through_a_link_or_over_a_device() {
    let mindful = Mindful::new();
    measured(&mindful, &["--duration", "1s"]);
    let (victim, link) = (mindful.folder().join("victim"), mindful.folder().join("run.csv"));
    fs::write(&victim, "precious").unwrap();
    symlink(&victim, &link).unwrap();
    for more in [&[][..], &["--yes"]] {
        refused(&mindful.run(&[&["export", "--output", "run.csv"], more].concat()));
    }
    refused(&mindful.run(&["export", "--yes", "--output", "/dev/null"]));
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
    fs::remove_file(&link).unwrap();
    assert!(mindful.run(&["export", "--yes", "--output", "run.csv"]).status.success());
    assert_eq!(fs::metadata(&link).unwrap().permissions().mode() & 0o777, 0o600);
}
