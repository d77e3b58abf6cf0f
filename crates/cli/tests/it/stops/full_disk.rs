//! A private PostgreSQL whose file system fills: neither the run nor its server hangs, and the next command works.

use std::fs;
use std::time::{Duration, Instant};

use rustix::process::Signal;

use super::{end_within, signal};
use crate::mindful::small_disk::SmallDisk;
use crate::mindful::{Mindful, PAUSES, ended, message, wait_until};

#[test]
fn updates_on_a_full_disk_hang_neither_run_nor_postgres() {
    let Some(small) = SmallDisk::private(400) else { return };
    let mindful = Mindful::new();
    let data = format!("--data-dir={}", small.data().display());
    let run = format!("run {data} --schemas=1 --scale=16MiB --sessions=2 --update-pct=100 --redo=heavy --warmup=0s");
    let mut child = mindful.start((&run, "--duration=10m -q --hook-before 'echo >begun'"));
    wait_until("it does not begin", || mindful.path("begun").exists());
    std::thread::sleep(Duration::from_secs(2));
    let fill = small.fill();
    let log = || fs::read_to_string(small.data().join("server.log")).unwrap_or_default();
    wait_until("nothing fails for want of room", || log().contains("No space left on device"));
    // The first signal is enough, even while mindful waits for the server.
    std::thread::sleep(Duration::from_secs(3));
    let asked = Instant::now();
    if child.try_wait().unwrap().is_none() {
        signal(&child, Signal::TERM);
    }
    let (code, _) = end_within(&mut child, Duration::from_mins(1));
    assert!(matches!(code, Some(1 | 3 | 130)), "{code:?} after {:?}: {}", asked.elapsed(), log());
    assert!(mindful_conformance::processes::working_in(&small.data()).is_empty());
    fs::remove_file(fill).unwrap();
    let again = mindful.run((&run, "--duration=2s", PAUSES));
    assert!(ended(&again), "{}", message(&again));
}
