//! Signals while bare files and SQLite files are made, proven and measured.

use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use super::assert_interrupted;
use crate::mindful::processes::wait_for_handlers;
use crate::mindful::{Mindful, ended, wait_until};

/// Interrupts `args` by the signal of its turn, a while after `begun` exists.
fn interrupt(mindful: &Mindful, args: &str, begun: &str, after: Duration, turn: usize) {
    let mut child = mindful.start_telling(args);
    wait_until("it does not begin", || mindful.path(begun).exists());
    // The file may exist from an earlier turn.
    wait_for_handlers(&child);
    thread::sleep(after);
    assert_interrupted(mindful, &mut child, [Signal::INT, Signal::TERM][turn % 2], args);
}

#[test]
fn a_signal_ends_every_job_on_files_and_leaves_a_run() {
    let mindful = Mindful::new();
    mindful.succeed("load --target=raw:blocks --schemas=1 --scale=32MiB");
    let jobs = ";--preset=oltp;--preset=calibrate --limit=1s;--matrix=basic --csv=m;--spans=outer,inner;\
                --iodepth=4 --rate=1";
    for (turn, job) in jobs.split(';').enumerate() {
        let args = format!("raw blocks --duration=60s --warmup=0s {job}");
        interrupt(&mindful, &args, "blocks", Duration::from_secs(2), turn);
        mindful.shows("show", "interrupted");
        let again = mindful.run("raw blocks --duration=300ms --warmup=0s");
        assert!(ended(&again), "{job:?}: {again:?}");
    }
}

#[test]
fn a_signal_ends_loads_of_files_and_the_next_one_succeeds() {
    let mindful = Mindful::new();
    for (file, target, scale) in
        [("blocks", "--target=raw:blocks", "--scale=1GiB"), ("file.db", "--target=sqlite:file.db", "--scale=512MiB")]
    {
        let load = format!("load {target} --schemas=2 {scale}");
        for (turn, after_ms) in [100, 700].into_iter().enumerate() {
            interrupt(&mindful, &load, file, Duration::from_millis(after_ms), turn);
        }
        mindful.succeed(format!("cleanup --yes {target}"));
        mindful.succeed(format!("load {target} --schemas=2 --scale=8MiB"));
    }
}
