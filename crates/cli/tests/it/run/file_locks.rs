//! Two mindfuls on one file: a load, a removal or a write holds it exclusively, readers share it if both say so.

use std::fs;
use std::process::{Child, Output};

use rustix::process::Signal;

use crate::mindful::processes::Background;
use crate::mindful::{Mindful, assert_has, json, kill, message, wait_until};
use crate::stops::signal;

const ENGINES: [&str; 2] = ["sqlite", "raw"];

/// A mindful at work on a file, and others that try to use it.
struct Busy {
    mindful: Mindful,
    target: String,
    child: Background,
}

/// Whether the process of `child` holds a lock of a whole file.
fn holds_a_lock(child: &Child) -> bool {
    let pid = child.id().to_string();
    let locks = fs::read_to_string("/proc/locks").unwrap();
    let mut locks = locks.lines().map(|line| line.split_ascii_whitespace().collect::<Vec<_>>());
    locks.any(|words| matches!(words[..], [_, "FLOCK", _, _, by, ..] if by == pid))
}

impl Busy {
    /// Starts a mindful with `args` on a file of its own and waits until it has locked something and `ready` holds.
    fn new(mindful: Mindful, engine: &str, args: &str, ready: impl Fn(&Mindful) -> bool) -> Self {
        let target = format!("--target={engine}:data");
        let child = Background(mindful.start((args, &target)));
        let mut busy = Self { mindful, target, child };
        wait_until("it locks nothing", || {
            assert!(busy.child.0.try_wait().unwrap().is_none(), "{args} ended");
            holds_a_lock(&busy.child.0) && ready(&busy.mindful)
        });
        busy
    }

    fn another(&self, args: &str) -> Output {
        self.mindful.run((args, &self.target))
    }

    /// Asserts that another mindful with `args` is refused with the user of the file.
    fn refuses(&self, args: &str) {
        let output = self.another(args);
        let refusal = message(&output);
        assert_eq!(output.status.code(), Some(3), "{args}: {refusal}");
        assert_has(&refusal, format!("uses …(process {})…--shared", self.child.0.id()));
        assert_eq!(refusal.lines().filter(|line| line.starts_with("mindful: ")).count(), 1, "{refusal}");
    }
}

const LOAD: &str = "load --schemas=1 --scale=8192";
const RUN: &str = "run --schemas=1 --sessions=1 --warmup=0s --think-time=20ms..20ms --duration=1s";
const LONG: &str = "run --schemas=1 --sessions=1 --warmup=0s --think-time=20ms..20ms --duration=60s --tag=long";

fn loaded(engine: &str) -> Mindful {
    let mindful = Mindful::new();
    mindful.succeed(format!("load --schemas=1 --scale=1024 --target={engine}:data"));
    mindful
}

fn at_work(mindful: &Mindful) -> bool {
    mindful.records().contains("\"slice\"")
}

#[test]
fn a_load_has_its_file_alone_until_it_is_killed() {
    for engine in ENGINES {
        let mut loading = Busy::new(Mindful::new(), engine, LOAD, |_| true);
        signal(&loading.child.0, Signal::STOP);
        loading.refuses(LOAD);
        if engine == "raw" {
            // A SQLite file is not recognised before its first transaction.
            loading.refuses("cleanup --yes");
        }
        // Its locks end with the process.
        kill(&mut loading.child.0);
        let loaded = loading.another(LOAD);
        assert!(loaded.status.success(), "{engine}: a killed load leaves a lock: {loaded:?}");
    }
}

#[test]
fn a_second_run_on_a_file_reports_that_it_shares() {
    for engine in ENGINES {
        let mut running = Busy::new(loaded(engine), engine, LONG, at_work);
        running.refuses(RUN);
        running.refuses("cleanup --yes");
        running.refuses("load --schemas=2 --scale=1024");
        running.refuses("run --schemas=2 --duration=1s --shared=on");
        if engine == "raw" {
            running.refuses(&format!("{RUN} --update-pct=50 --shared=on"));
        }
        let shared = running.another(&format!("{RUN} --shared=on --format=json"));
        let findings = json(&shared)["findings"].to_string();
        // A busy host may cut a window of a second short; a refused run would have no summary.
        assert!(findings.contains("dataset-shared"), "{engine}: {shared:?}");
        assert!(findings.contains(&format!("process {}", running.child.0.id())), "{engine}: {findings}");
        kill(&mut running.child.0);
        let next = running.another(&format!("{RUN} --format=json"));
        assert!(!json(&next)["findings"].to_string().contains("dataset-shared"), "{next:?}");
    }
}

#[test]
fn a_writer_of_a_bare_file_holds_it_exclusively() {
    let writing = Busy::new(loaded("raw"), "raw", &format!("{LONG} --update-pct=50"), at_work);
    writing.refuses(&format!("{RUN} --shared=on"));
    writing.refuses(&format!("{RUN} --update-pct=50 --shared=on"));
    writing.refuses("cleanup --yes");
}
