//! A server that no longer answers, though its host accepts packets.

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use mindful_conformance::quick_place;
use rustix::process::Signal;

use crate::mariadb::server::UsersMariaDb;
use crate::mindful::Mindful;
use crate::stops::standstill::{self, Stopped};
use crate::stops::{PATIENCE, appears, end_of, signal, until};

/// A server of the user's, and a run on it that prints only errors.
struct Bench {
    place: tempfile::TempDir,
    server: UsersMariaDb,
    mindful: Mindful,
}

impl Bench {
    fn new() -> Self {
        let place = quick_place();
        let server = UsersMariaDb::start(&place.path().join("db"), &[("set", "innodb_flush_method=nosync")]);
        Self { place, server, mindful: Mindful::new() }
    }

    fn run(&self, loops: &str, more: &[&str]) -> Child {
        // The wait for a login is no longer than this.
        let url = format!("{}&connect-timeout=3", self.server.url());
        let on = ["run", "-q", "--target", &url, "--schemas", "1", "--scale", "8MiB", "--sessions", "2"];
        let says = fs::File::create(self.place.path().join("says")).unwrap();
        let mut command = self.mindful.command(&[&on[..], &["--loop", loops, "--warmup", "0s"], more].concat());
        command.stdout(Stdio::null()).stderr(says).spawn().unwrap()
    }

    /// How many sessions are inside a statement.
    fn at_work(&self) -> u64 {
        let busy = "SELECT COUNT(*) FROM information_schema.processlist WHERE command <> 'Sleep'";
        self.server.count(&format!("{busy} AND info LIKE '%blocks_1%' AND id <> CONNECTION_ID()"))
    }

    fn works(&self) {
        until("no session works", || self.at_work() > 0);
    }

    fn says(&self) -> String {
        fs::read_to_string(self.place.path().join("says")).unwrap()
    }
}

/// It ends soon, with one line.
fn is_interrupted(bench: &Bench, mut child: Child, sent: Signal) {
    signal(&child, sent);
    let (code, took) = end_of(&mut child);
    let says = bench.says();
    assert!(code == Some(130) && took < PATIENCE, "{code:?} after {took:?}: {says}");
    assert!(says.lines().count() == 1 && says.contains("interrupted"), "{says}");
}

#[test]
fn a_signal_ends_a_run_on_a_stopped_server() {
    let bench = Bench::new();
    for (loops, sent) in [("server", Signal::TERM), ("client", Signal::INT)] {
        // Those of the previous run continue until the server notices that their client is gone.
        until("a session is left", || bench.at_work() == 0);
        let child = bench.run(loops, &["--duration", "60s"]);
        bench.works();
        let _stopped = Stopped::new(bench.server.pid());
        thread::sleep(Duration::from_millis(500));
        is_interrupted(&bench, child, sent);
    }
}

#[test]
fn a_run_ends_though_its_mariadb_is_stopped() {
    let bench = Bench::new();
    standstill::both_loops_end_by_themselves(&bench.server.url(), bench.server.pid());
}

#[test]
fn a_run_ends_though_its_mariadb_stopped_before_the_step() {
    let bench = Bench::new();
    let loaded = bench.run("server", &["--duration", "1s"]).wait().unwrap();
    assert!(matches!(loaded.code(), Some(0 | 1)), "{}", bench.says());
    let (pid, begun) = (bench.server.pid(), bench.place.path().join("begun"));
    let hook = format!("kill -STOP {pid}; echo 1 > {}", begun.display());
    let mut child = bench.run("server", &["--duration", "60s", "--hook-before", &hook]);
    appears(&begun);
    let _stopped = Stopped::new(pid);
    let (code, took) = end_of(&mut child);
    let says = bench.says();
    assert!(code == Some(1) && took < PATIENCE, "{code:?} after {took:?}: {says}");
    let shown = bench.mindful.text(&["show"]);
    assert!(shown.contains("INVALID") && shown.contains("accepted the connection"), "{shown}");
}
