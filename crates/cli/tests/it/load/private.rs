//! The private server that a load makes, the ways in which mindful may end meanwhile, and the effect of cleanup.

use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use mindful_conformance::processes::working_in;
use mindful_conformance::{not_run, place, quick_place};
use rustix::process::Signal;

use crate::mindful::processes::wait_for_handlers;
use crate::mindful::{Mindful, PAUSES, assert_has, kill, refused_with, short_run, text, wait_until};
use crate::stops::signal;

#[test]
fn a_killed_mindful_leaves_no_server_and_usable_data() {
    let mindful = Mindful::beside_others(quick_place());
    let mut run = mindful.on_private(("run --schemas 4 --scale 32MiB --sessions 2 --duration 20s", PAUSES));
    run.stdout(Stdio::null()).stderr(Stdio::null());
    // From before the server is up, over the load, to the run.
    for after_ms in [150, 600, 1_000, 1_600, 2_500, 3_500] {
        let mut child = run.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(after_ms));
        kill(&mut child);
        wait_until(&format!("a server is left {after_ms} ms after the start"), || {
            working_in(&mindful.private_folder()).is_empty()
        });
    }
    // The size of the last load that began.
    let report = mindful.report(&mindful.private("run --format json --sessions 2 --warmup 0s --duration 2s"));
    assert!(report.figure("blocks_visited_per_s") > 0.0, "{report}");
}

/// From the first process to the middle of the load: whenever the signal comes, mindful ends soon and leaves no server.
#[test]
fn a_signal_ends_the_making_and_the_loading_of_a_server() {
    let mindful = Mindful::beside_others(place());
    // More than any machine loads in the remaining seconds, so that the schema is incomplete.
    let mut load = mindful.on_private("load --schemas 2 --scale 4GiB");
    load.stdout(Stdio::null()).stderr(Stdio::null());
    let mut cut_off = 0;
    for (turn, after_ms) in [50, 200, 500, 900, 1_500].into_iter().enumerate() {
        let mut child = load.spawn().unwrap();
        // The first may arrive before mindful listens: a shell lets background commands ignore SIGINT, but not SIGTERM.
        if turn > 0 {
            wait_for_handlers(&child);
        }
        std::thread::sleep(Duration::from_millis(after_ms));
        signal(&child, [Signal::TERM, Signal::INT][turn % 2]);
        let signalled = Instant::now();
        wait_until("mindful does not end", || child.try_wait().unwrap().is_some());
        let (code, took) = (child.wait().unwrap().code(), signalled.elapsed());
        cut_off += u32::from(code == Some(130));
        let ended = code == Some(130) || turn == 0 && !mindful.private_folder().exists();
        assert!(ended, "after {after_ms} ms: {code:?}, {took:?} after the signal");
        // Programs that made the server end with mindful, each when it gets its signal.
        wait_until(&format!("after {after_ms} ms: a server is left"), || {
            working_in(&mindful.private_folder()).is_empty()
        });
    }
    assert!(cut_off >= 3, "only {cut_off} were cut off");
    let made = mindful.private(short_run(""));
    assert!(made.status.success(), "what was cut off is in the way: {made:?}");
}

/// As in a container without root that has one user: it cannot become another user, and no database server runs as
/// root.
#[test]
fn root_of_a_namespace_of_one_user_is_refused_with_a_next_step() {
    let mindful = Mindful::beside_others(quick_place());
    let data = mindful.private_folder();
    let unshare = |args: &[&str]| {
        let mut unshare = Command::new("unshare");
        unshare.arg("--map-root-user").args(args);
        mindful.at_home(unshare).output()
    };
    if !unshare(&["true"]).is_ok_and(|output| output.status.success()) {
        return not_run("user namespaces may not be made here");
    }
    for args in ["run", "load", "doctor", "cleanup --yes", "run --target mariadb:"] {
        let line = format!("exec {} {args} --data-dir {}", env!("CARGO_BIN_EXE_mindful"), data.display());
        let output = unshare(&["sh", "-c", &line]).unwrap();
        assert_has(refused_with(3, &output), "/proc/self/uid_map…start mindful as a plain user");
        assert!(!data.exists(), "{args}: {output:?}");
    }
}

#[test]
fn cleanup_lists_and_removes_our_objects() {
    let mindful = Mindful::beside_others(quick_place()).with_private();
    let data = mindful.private_folder();
    let asked = mindful.private("cleanup");
    assert_eq!(asked.status.code(), Some(2), "there is no terminal to answer: {asked:?}");
    let listed = text(&mindful.private("cleanup --yes"));
    assert!(listed.contains("removed") && listed.contains(&format!("{} (", data.display())), "{listed}");
    assert!(!data.exists() && working_in(&data).is_empty(), "the private folder is left");
    assert_has(text(&mindful.private("cleanup --yes")), "mindful has nothing on");
    assert!(!data.exists(), "a server is made to be cleaned up");
    let next = mindful.private_run(PAUSES);
    assert!(next.figure("blocks_visited_per_s") > 0.0, "{next}");
}

#[test]
fn cleanup_leaves_a_private_server_that_holds_others_data() {
    let mindful = Mindful::beside_others(quick_place());
    let data = mindful.private_folder();
    for namespace in ["first", "second"] {
        let load = format!("load --schemas 1 --scale 8MiB --namespace {namespace}");
        assert!(mindful.private(&load).status.success());
    }
    let clean = |namespace| text(&mindful.private(format!("cleanup --yes --namespace {namespace}")));
    let listed = clean("first");
    assert!(listed.contains("keep, it also holds schema second") && data.exists(), "{listed}");
    let letter = data.join("letter.txt");
    std::fs::write(&letter, "dear").unwrap();
    let listed = clean("second");
    assert!(listed.contains("keep, it also holds letter.txt") && letter.exists(), "{listed}");
    std::fs::remove_file(letter).unwrap();
    let listed = clean("second");
    assert!(listed.contains("1 removed") && !data.exists(), "{listed}");
}
