//! Runs of other users, and other users of our runs: nothing in a run folder is executed or followed without a request.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, mkfifoat};

use crate::mindful::{Mindful, ended, kill, message, null, wait_until};

/// The id of a finished sweep on the null engine with hooks that write files in the current folder.
fn swept(mindful: &Mindful, more: &[&str]) -> String {
    let output = mindful.run(null("sweep", [&["--sessions", "1,2"], more].concat()));
    assert!(ended(&output), "{output:?}");
    let mut runs = fs::read_dir(mindful.runs()).unwrap();
    runs.next().unwrap().unwrap().file_name().into_string().unwrap()
}

#[test]
fn a_sweep_is_not_resumed_while_it_is_being_written() {
    let mindful = Mindful::new();
    let mut first = mindful.start(null("sweep", ["--sessions", "1,2", "--duration", "20s"]));
    wait_until("no step begins", || mindful.records().contains("\"event\":\"step\""));
    let refusal = mindful.refusal(["sweep", "--resume", "latest"]);
    assert!(refusal.contains("being written by another mindful"), "{refusal}");
    assert!(mindful.run(["show"]).status.success(), "reading needs no lock");
    // After any end of the first one, the run is free again and its record complete.
    kill(&mut first);
    assert!(mindful.run(["show"]).status.success());
    let mut second = mindful.start(["sweep", "--resume", "latest"]);
    std::thread::sleep(Duration::from_millis(500));
    assert!(second.try_wait().unwrap().is_none(), "it continues");
    kill(&mut second);
}

#[test]
fn hooks_of_an_imported_run_are_never_executed() {
    let (there, here) = (Mindful::new(), Mindful::new());
    let touch = |name: &str| format!("touch {}", here.path(name).display());
    let hooks = [touch("before"), touch("after"), touch("end")];
    let all = ["--hook-before", &hooks[0], "--hook-after", &hooks[1], "--hook-end", &hooks[2]];
    let id = swept(&there, &[&all[..], &["--tag", "theirs"]].concat());
    let touched = || ["before", "after", "end"].map(|name| fs::remove_file(here.path(name)).is_ok());
    assert_eq!(touched(), [true; 3]);
    assert!(ended(&there.run(["sweep", "--resume", &id])));
    assert_eq!(touched(), [true; 3], "the user's own run continues with its hooks");

    let record = there.runs().join(&id).join("run.jsonl");
    let text = fs::read_to_string(&record).unwrap();
    let set = r#""data_dir":{"value":"/nowhere","origin":{"flag":"--data-dir"}},"hook_after":{"value""#;
    let written = text.replacen(r#""hook_after":{"value""#, set, 1);
    assert_ne!(written, text);
    fs::write(&record, written).unwrap();
    assert!(here.run(["import", there.runs().join(&id).to_str().unwrap()]).status.success());
    let refusal = here.refusal(["sweep", "--resume", &id]);
    assert!(refusal.contains("made elsewhere") && refusal.contains("--target"), "{refusal}");
    let resumed = here.run(["sweep", "--resume", &id, "--target", "null:"]);
    let left_out = message(&resumed);
    assert!(ended(&resumed) && left_out.contains("hook_before") && left_out.contains("data_dir"), "{left_out}");
    for verb in [&["show"][..], &["export"], &["export", "--as", "html"], &["export", "--as", "jsonl"], &["list"]] {
        assert!(here.run(verb).status.success(), "{verb:?}");
    }
    assert_eq!(touched(), [false; 3]);
    let asked = here.run(["sweep", "--resume", &id, "--target", "null:", "--hook-end", &hooks[2]]);
    assert!(ended(&asked), "{asked:?}");
    assert_eq!(touched(), [false, false, true], "hooks of this command line");
}

#[test]
fn a_run_that_others_may_have_written_executes_nothing() {
    let mindful = Mindful::new();
    let id = swept(&mindful, &["--hook-end", "touch touched"]);
    fs::remove_file(mindful.path("touched")).unwrap();
    for open in [mindful.runs(), mindful.runs().join(&id)] {
        let mode = |mode| fs::set_permissions(&open, Permissions::from_mode(mode)).unwrap();
        mode(0o777);
        for verb in [&["sweep", "--resume", &id][..], &["run", "--again", &id]] {
            assert!(mindful.refusal(verb).contains("made elsewhere"), "{verb:?}");
        }
        mode(0o700);
    }
    fs::set_permissions(mindful.runs().join(&id), Permissions::from_mode(0o777)).unwrap();
    assert!(ended(&mindful.run(["sweep", "--resume", &id, "--target", "null:"])));
    assert!(!mindful.path("touched").exists());
}

#[test]
fn pipes_devices_and_links_for_a_record_end_at_once() {
    let mindful = Mindful::new();
    let ran = mindful.measured([]);
    let id = ran["id"].as_str().unwrap();
    let log = mindful.runs().join(id).join("run.jsonl");
    let kept = mindful.path("kept.jsonl");
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
        assert!(mindful.run(["list"]).status.success());
        assert!(!mindful.run(["import", mindful.runs().join(id).to_str().unwrap()]).status.success());
        assert!(began.elapsed() < Duration::from_mins(1));
        fs::remove_file(&log).unwrap();
    }
}

#[test]
fn show_remakes_a_corrupt_summary_as_list_says() {
    let mindful = Mindful::new();
    let ran = mindful.measured([]);
    let summary = mindful.run_folder(&ran).join("summary.json");
    let whole = fs::read(&summary).unwrap();
    let elsewhere = mindful.path("elsewhere");
    fs::write(&elsewhere, "mine").unwrap();
    for damage in ["{\"format\":1,", "link"] {
        fs::remove_file(&summary).unwrap();
        if damage == "link" {
            symlink(&elsewhere, &summary).unwrap();
        } else {
            fs::write(&summary, damage).unwrap();
        }
        let listed = mindful.text(["list"]);
        assert!(listed.contains("mindful show"), "{listed}");
        assert_eq!(mindful.json(["show"]), ran);
        assert_eq!(fs::read(&summary).unwrap(), whole);
        assert!(!mindful.text(["list"]).contains("corrupt"));
    }
    assert_eq!(fs::read(&elsewhere).unwrap(), b"mine");
}

#[test]
fn manual_pages_go_through_no_link_and_wait_for_no_pipe() {
    let mindful = Mindful::new();
    let (victim, page) = (mindful.path("victim"), mindful.path("pages/mindful-run.1"));
    fs::write(&victim, "precious").unwrap();
    fs::create_dir(page.parent().unwrap()).unwrap();
    let kinds: [&dyn Fn(); 2] =
        [&|| symlink(&victim, &page).unwrap(), &|| mkfifoat(CWD, &page, Mode::from_raw_mode(0o600)).unwrap()];
    for make in kinds {
        make();
        let refusal = mindful.refusal(["generate", "man", "pages"]);
        assert!(refusal.contains("mindful-run.1") && refusal.contains("not a regular file"), "{refusal}");
        fs::remove_file(&page).unwrap();
    }
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
    for _ in 0..2 {
        assert!(mindful.run(["generate", "man", "pages"]).status.success(), "pages are made again");
        assert_eq!(fs::metadata(&page).unwrap().permissions().mode() & 0o777, 0o644);
    }
}

#[test]
fn an_output_never_goes_through_a_link_or_over_a_device() {
    let mindful = Mindful::new();
    mindful.measured([]);
    let (victim, link) = (mindful.path("victim"), mindful.path("run.csv"));
    fs::write(&victim, "precious").unwrap();
    symlink(&victim, &link).unwrap();
    for more in [&[][..], &["--yes"]] {
        mindful.refusal([&["export", "--output", "run.csv"], more].concat());
    }
    mindful.refusal(["export", "--yes", "--output", "/dev/null"]);
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
    fs::remove_file(&link).unwrap();
    assert!(mindful.run(["export", "--yes", "--output", "run.csv"]).status.success());
    assert_eq!(fs::metadata(&link).unwrap().permissions().mode() & 0o777, 0o600);
}
