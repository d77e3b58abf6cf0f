//! Two mindfuls on one file: a load, a removal or a write holds it exclusively, readers share it if both say so.

use std::fs;
use std::process::{Child, Output};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::mindful::{Mindful, json, message};

/// Longest that a lock may take to appear: against hangs, on a busy host too.
const PATIENCE: Duration = Duration::from_secs(30);

const ENGINES: [&str; 2] = ["sqlite", "raw"];

/// A mindful at work on a file, and others that try to use it.
struct Busy {
    mindful: Mindful,
    target: String,
    child: Child,
}

impl Drop for Busy {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether the process of `child` holds a lock of a whole file.
fn holds_a_lock(child: &Child) -> bool {
    let pid = child.id().to_string();
    let locks = fs::read_to_string("/proc/locks").unwrap();
    locks
        .lines()
        .map(|line| line.split_ascii_whitespace().collect::<Vec<_>>())
        .any(|words| matches!(words[..], [_, "FLOCK", _, _, by, ..] if by == pid))
}

impl Busy {
    /// Starts a mindful with `args` on a file of its own and waits until it has locked something and `ready` holds.
    fn new(mindful: Mindful, engine: &str, args: &[&str], ready: impl Fn(&Mindful) -> bool) -> Self {
        let target = format!("--target={engine}:{}", mindful.path("data").display());
        let all = [args, &[target.as_str()]].concat();
        let child = mindful.start(&all);
        let mut busy = Self { mindful, target, child };
        let began = Instant::now();
        while !(holds_a_lock(&busy.child) && ready(&busy.mindful)) {
            assert!(began.elapsed() < PATIENCE && busy.child.try_wait().unwrap().is_none(), "{args:?} locks nothing");
            thread::sleep(Duration::from_millis(1));
        }
        busy
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).unwrap();
    }

    /// Its locks end with the process, so wait for its end after the signal.
    fn kill(&mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    fn another(&self, args: &[&str]) -> Output {
        self.mindful.run(&[args, &[self.target.as_str()]].concat())
    }

    /// Asserts that another mindful with `args` is refused with the user of the file.
    fn refuses(&self, args: &[&str]) {
        let output = self.another(args);
        let refusal = message(&output);
        let who = format!("(process {})", self.child.id());
        assert!(output.status.code() == Some(3), "{args:?}: {:?} {refusal}", output.status);
        assert!(
            refusal.contains("uses ") && refusal.contains(&who) && refusal.contains("--shared"),
            "{args:?}: {refusal}"
        );
        assert_eq!(refusal.lines().filter(|line| line.starts_with("mindful: ")).count(), 1, "{refusal}");
    }
}

const LOAD: [&str; 3] = ["load", "--schemas=1", "--scale=8192"];
const RUN: [&str; 6] =
    ["run", "--schemas=1", "--sessions=1", "--warmup=0s", "--duration=1s", "--think-time=20ms..20ms"];
const LONG: [&str; 6] =
    ["run", "--schemas=1", "--sessions=1", "--warmup=0s", "--duration=60s", "--think-time=20ms..20ms"];

fn loaded(engine: &str) -> Mindful {
    let mindful = Mindful::new();
    let target = format!("--target={engine}:{}", mindful.path("data").display());
    mindful.succeed(&["load", "--schemas=1", "--scale=1024", &target]);
    mindful
}

fn at_work(mindful: &Mindful) -> bool {
    mindful.records().contains("\"slice\"")
}

#[test]
fn a_load_has_its_file_alone_until_it_is_killed() {
    for engine in ENGINES {
        let mut loading = Busy::new(Mindful::new(), engine, &LOAD, |_| true);
        loading.signal(Signal::STOP);
        loading.refuses(&LOAD);
        if engine == "raw" {
            // A SQLite file is not recognised before its first transaction.
            loading.refuses(&["cleanup", "--yes"]);
        }
        loading.kill();
        let loaded = loading.another(&LOAD);
        assert!(loaded.status.success(), "{engine}: a killed load leaves a lock: {loaded:?}");
    }
}

#[test]
fn a_second_run_on_a_file_reports_that_it_shares() {
    for engine in ENGINES {
        let mut running = Busy::new(loaded(engine), engine, &[&LONG[..], &["--tag=long"]].concat(), at_work);
        running.refuses(&RUN);
        running.refuses(&["cleanup", "--yes"]);
        running.refuses(&["load", "--schemas=2", "--scale=1024"]);
        running.refuses(&["run", "--schemas=2", "--duration=1s", "--shared=on"]);
        if engine == "raw" {
            running.refuses(&[&RUN[..], &["--update-pct=50", "--shared=on"]].concat());
        }
        let shared = running.another(&[&RUN[..], &["--shared=on", "--format=json"]].concat());
        let findings = json(&shared)["findings"].to_string();
        // A busy host may cut a window of a second short; a refused run would have no summary.
        assert!(findings.contains("dataset-shared"), "{engine}: {shared:?}");
        assert!(findings.contains(&format!("process {}", running.child.id())), "{engine}: {findings}");
        running.kill();
        let next = running.another(&[&RUN[..], &["--format=json"]].concat());
        assert!(!json(&next)["findings"].to_string().contains("dataset-shared"), "{next:?}");
    }
}

#[test]
fn a_writer_of_a_bare_file_holds_it_exclusively() {
    let writing = Busy::new(loaded("raw"), "raw", &[&LONG[..], &["--update-pct=50"]].concat(), at_work);
    writing.refuses(&[&RUN[..], &["--shared=on"]].concat());
    writing.refuses(&[&RUN[..], &["--update-pct=50", "--shared=on"]].concat());
    writing.refuses(&["cleanup", "--yes"]);
}
