//! Signals while bare files and SQLite files are made, proven and measured.

use std::fs;
use std::process::Stdio;
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use super::{PATIENCE, end_of, signal, until};

use crate::mindful::{Mindful, ended, wait_for_handlers};

/// Interrupts `args` by `asked`, a while after `begun` exists: its exit code and its output.
fn interrupted(mindful: &Mindful, args: &[&str], begun: &str, after: Duration, asked: Signal) -> (Option<i32>, String) {
    let says = mindful.path("says");
    let stderr = fs::File::create(&says).unwrap();
    let mut child = mindful.command(args).stdout(Stdio::null()).stderr(stderr).spawn().unwrap();
    until("it does not begin", || mindful.path(begun).exists());
    // The file may exist from an earlier turn.
    wait_for_handlers(&child);
    thread::sleep(after);
    signal(&child, asked);
    let (code, took) = end_of(&mut child);
    let says = fs::read_to_string(says).unwrap();
    assert!(took < PATIENCE, "{args:?}: {code:?} after {took:?}: {says}");
    (code, says)
}

#[test]
fn a_signal_ends_every_job_on_files_and_leaves_a_run() {
    let mindful = Mindful::new();
    mindful.succeed(&["load", "--target=raw:blocks", "--schemas=1", "--scale=32MiB"]);
    let jobs: [&[&str]; 6] = [
        &[],
        &["--preset=oltp"],
        &["--preset=calibrate", "--limit=1s"],
        &["--matrix=basic", "--csv=m"],
        &["--spans=outer,inner"],
        &["--iodepth=4", "--rate=1"],
    ];
    for (turn, job) in jobs.into_iter().enumerate() {
        let asked = [Signal::INT, Signal::TERM][turn % 2];
        let args = [&["raw", "blocks", "--duration=60s", "--warmup=0s"][..], job].concat();
        let (code, says) = interrupted(&mindful, &args, "blocks", Duration::from_secs(2), asked);
        assert_eq!(code, Some(130), "{job:?}: {says}");
        let shown = mindful.run(&["show"]);
        assert!(String::from_utf8_lossy(&shown.stdout).contains("interrupted"), "{job:?}: {shown:?}");
        let again = mindful.run(&["raw", "blocks", "--duration=300ms", "--warmup=0s"]);
        assert!(ended(&again), "{job:?}: {again:?}");
    }
}

#[test]
fn a_signal_ends_loads_of_files_and_the_next_one_succeeds() {
    let mindful = Mindful::new();
    for (file, target, scale) in
        [("blocks", "--target=raw:blocks", "--scale=1GiB"), ("file.db", "--target=sqlite:file.db", "--scale=512MiB")]
    {
        let load = ["load", target, "--schemas=2", scale];
        for (turn, after_ms) in [100, 700].into_iter().enumerate() {
            let asked = [Signal::INT, Signal::TERM][turn];
            let (code, says) = interrupted(&mindful, &load, file, Duration::from_millis(after_ms), asked);
            assert_eq!(code, Some(130), "{load:?} after {after_ms} ms: {says}");
        }
        mindful.succeed(&["cleanup", "--yes", target]);
        let small = ["load", target, "--schemas=2", "--scale=8MiB"];
        mindful.succeed(&small);
    }
}
