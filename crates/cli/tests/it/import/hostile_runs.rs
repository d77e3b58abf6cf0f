//! Runs of other users, and other users of our runs: nothing in a run folder is executed or followed without a request.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, Instant};

use rustix::fs::{CWD, Mode, mkfifoat};

use crate::mindful::{Mindful, assert_has, ended, id, kill, message, null, wait_until};

/// The id of a finished sweep on the null engine with hooks that write files in the current folder.
fn swept(mindful: &Mindful, more: &str) -> String {
    let output = mindful.run(null("sweep", ("--sessions 1,2", more)));
    assert!(ended(&output), "{output:?}");
    let mut runs = fs::read_dir(mindful.runs()).unwrap();
    runs.next().unwrap().unwrap().file_name().into_string().unwrap()
}

#[test]
fn a_sweep_is_not_resumed_while_it_is_being_written() {
    let mindful = Mindful::new();
    let mut first = mindful.start(null("sweep", "--sessions 1,2 --duration 20s"));
    wait_until("no step begins", || mindful.records().contains("\"event\":\"step\""));
    mindful.refuses("sweep --resume latest", "being written by another mindful");
    // Reading needs no lock.
    mindful.succeed("show");
    // After any end of the first one, the run is free again and its record complete.
    kill(&mut first);
    mindful.succeed("show");
    let mut second = mindful.start("sweep --resume latest");
    std::thread::sleep(Duration::from_millis(500));
    assert!(second.try_wait().unwrap().is_none(), "it continues");
    kill(&mut second);
}

#[test]
fn hooks_of_an_imported_run_are_never_executed() {
    const MOMENTS: [&str; 3] = ["before", "after", "end"];
    let (there, here) = (Mindful::new(), Mindful::new());
    let hooks = MOMENTS.map(|moment| format!("--hook-{moment} 'touch {}'", here.path(moment).display()));
    let id = swept(&there, &hooks.join(" "));
    let touched = || MOMENTS.map(|moment| fs::remove_file(here.path(moment)).is_ok());
    assert_eq!(touched(), [true; 3]);
    assert!(ended(&there.run(format!("sweep --resume {id}"))));
    assert_eq!(touched(), [true; 3], "the user's own run continues with its hooks");

    let record = there.runs().join(&id).join("run.jsonl");
    let text = fs::read_to_string(&record).unwrap();
    let set = r#""data_dir":{"value":"/nowhere","origin":{"flag":"--data-dir"}},"hook_after":{"value""#;
    let written = text.replacen(r#""hook_after":{"value""#, set, 1);
    assert_ne!(written, text);
    fs::write(&record, written).unwrap();
    here.succeed(("import", there.runs().join(&id)));
    here.refuses(format!("sweep --resume {id}"), "made elsewhere…--target");
    let resumed = here.run(format!("sweep --resume {id} --target null:"));
    assert!(ended(&resumed), "{resumed:?}");
    assert_has(message(&resumed), "hook_before…data_dir");
    for verb in ["show", "export", "export --as html", "export --as jsonl", "list"] {
        here.succeed(verb);
    }
    assert_eq!(touched(), [false; 3]);
    let asked = here.run(format!("sweep --resume {id} --target null: {}", hooks[2]));
    assert!(ended(&asked), "{asked:?}");
    assert_eq!(touched(), [false, false, true], "hooks of this command line");
}

#[test]
fn a_run_that_others_may_have_written_executes_nothing() {
    let mindful = Mindful::new();
    let id = swept(&mindful, "--hook-end 'touch touched'");
    fs::remove_file(mindful.path("touched")).unwrap();
    for open in [mindful.runs(), mindful.runs().join(&id)] {
        let mode = |mode| fs::set_permissions(&open, Permissions::from_mode(mode)).unwrap();
        mode(0o777);
        for verb in ["sweep --resume", "run --again"] {
            mindful.refuses(format!("{verb} {id}"), "made elsewhere");
        }
        mode(0o700);
    }
    fs::set_permissions(mindful.runs().join(&id), Permissions::from_mode(0o777)).unwrap();
    assert!(ended(&mindful.run(format!("sweep --resume {id} --target null:"))));
    assert!(!mindful.path("touched").exists());
}

#[test]
fn pipes_devices_and_links_for_a_record_end_at_once() {
    let mindful = Mindful::new();
    let ran = mindful.measured("");
    let (id, log) = (id(&ran), mindful.log(&ran));
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
        for verb in ["show", "export", "export --as jsonl", "sweep --resume"] {
            let output = mindful.run((verb, id));
            assert!(!output.status.success() && output.stdout.is_empty(), "{verb:?}: {output:?}");
            assert_eq!(message(&output).lines().count(), 1, "{verb:?}: {output:?}");
        }
        mindful.succeed("list");
        assert!(!mindful.run(("import", mindful.run_folder(&ran))).status.success());
        assert!(began.elapsed() < Duration::from_mins(1));
        fs::remove_file(&log).unwrap();
    }
}

#[test]
fn show_remakes_a_corrupt_summary_as_list_says() {
    let mindful = Mindful::new();
    let ran = mindful.measured("");
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
        mindful.shows("list", "mindful show");
        assert_eq!(mindful.json("show"), ran);
        assert_eq!(fs::read(&summary).unwrap(), whole);
        assert!(!mindful.text("list").contains("corrupt"));
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
        mindful.refuses("generate man pages", "mindful-run.1…not a regular file");
        fs::remove_file(&page).unwrap();
    }
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
    for _ in 0..2 {
        // Pages are made again.
        mindful.succeed("generate man pages");
        assert_eq!(fs::metadata(&page).unwrap().permissions().mode() & 0o777, 0o644);
    }
}

#[test]
fn an_output_never_goes_through_a_link_or_over_a_device() {
    let mindful = Mindful::new();
    mindful.measured("");
    let (victim, link) = (mindful.path("victim"), mindful.path("run.csv"));
    fs::write(&victim, "precious").unwrap();
    symlink(&victim, &link).unwrap();
    for args in ["run.csv", "run.csv --yes", "/dev/null --yes"] {
        mindful.refusal(format!("export --output {args}"));
    }
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
    fs::remove_file(&link).unwrap();
    mindful.succeed("export --yes --output run.csv");
    assert_eq!(fs::metadata(&link).unwrap().permissions().mode() & 0o777, 0o600);
}
