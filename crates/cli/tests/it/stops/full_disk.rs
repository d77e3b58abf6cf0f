//! A private PostgreSQL whose file system fills: neither the run nor its server hangs, and the next command works.

use std::fs;
use std::time::{Duration, Instant};

use mindful_conformance::own_mounts;
use rustix::process::Signal;

use super::{end_within, signal, until};
use crate::mindful::small_disk::SmallDisk;
use crate::mindful::{Mindful, PAUSES, ended, message};

#[test]
fn updates_on_a_full_disk_hang_neither_run_nor_postgres() {
    if !own_mounts() {
        return;
    }
    let Some(small) = SmallDisk::mounted(400) else { return };
    let mindful = Mindful::new();
    let data = format!("--data-dir={}", small.data().display());
    let run = |duration| {
        ["run", &data, "--schemas=1", "--scale=16MiB", "--sessions=2", "--update-pct=100", "--redo=heavy"]
            .into_iter()
            .chain(["--warmup=0s", duration])
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let started = mindful.path("begun");
    let hook = format!("--hook-before=echo >{}", started.display());
    let endless = run("--duration=10m");
    let mut child = mindful.start(&endless.iter().map(String::as_str).chain([&*hook, "-q"]).collect::<Vec<_>>());
    until("it does not begin", || started.exists());
    std::thread::sleep(Duration::from_secs(2));
    let fill = small.fill();
    let log = || fs::read_to_string(small.data().join("server.log")).unwrap_or_default();
    until("nothing fails for want of room", || log().contains("No space left on device"));
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
    let short = run("--duration=2s");
    let again = mindful.run(&short.iter().map(String::as_str).chain(PAUSES).collect::<Vec<_>>());
    assert!(ended(&again), "{}", message(&again));
}
