//! A server that no longer answers, though its host accepts packets.

use std::process::Child;
use std::thread;
use std::time::Duration;

use mindful_conformance::quick_place;
use rustix::process::Signal;

use crate::mariadb::server::UsersMariaDb;
use crate::mindful::{Mindful, Words, wait_until};
use crate::stops::standstill::{self, Stopped};
use crate::stops::{PATIENCE, appears, assert_interrupted, end_of};

/// A server of the user's, and a run on it that prints only errors.
struct Bench {
    server: UsersMariaDb,
    mindful: Mindful,
}

impl Bench {
    fn new() -> Self {
        let mindful = Mindful::at(quick_place());
        let server = UsersMariaDb::start(&mindful.path("db"), &[("set", "innodb_flush_method=nosync")]);
        Self { server, mindful }
    }

    fn run(&self, loops: &str, more: impl Words) -> Child {
        // The wait for a login is no longer than this.
        let url = format!("{}&connect-timeout=3", self.server.url());
        let work = format!("--loop {loops} --schemas 1 --scale 8MiB --sessions 2 --warmup 0s");
        self.mindful.start_telling((format!("run -q --target {url}"), work, more))
    }

    /// How many sessions are inside a statement.
    fn at_work(&self) -> u64 {
        let busy = "SELECT COUNT(*) FROM information_schema.processlist WHERE command <> 'Sleep'";
        self.server.count(&format!("{busy} AND info LIKE '%blocks_1%' AND id <> CONNECTION_ID()"))
    }
}

#[test]
fn a_signal_ends_a_run_on_a_stopped_server() {
    let bench = Bench::new();
    for (loops, sent) in [("server", Signal::TERM), ("client", Signal::INT)] {
        // Those of the previous run continue until the server notices that their client is gone.
        wait_until("a session is left", || bench.at_work() == 0);
        let mut child = bench.run(loops, "--duration 60s");
        wait_until("no session works", || bench.at_work() > 0);
        let _stopped = Stopped::new(bench.server.pid());
        thread::sleep(Duration::from_millis(500));
        assert_interrupted(&bench.mindful, &mut child, sent, loops);
        let says = bench.mindful.says();
        assert!(says.lines().count() == 1 && says.contains("interrupted"), "{says}");
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
    let loaded = bench.run("server", "--duration 1s").wait().unwrap();
    assert!(matches!(loaded.code(), Some(0 | 1)), "{}", bench.mindful.says());
    let pid = bench.server.pid();
    let hook = format!("--hook-before 'kill -STOP {pid}; echo 1 > begun'");
    let mut child = bench.run("server", ("--duration 60s", hook));
    appears(&bench.mindful.path("begun"));
    let _stopped = Stopped::new(pid);
    let (code, took) = end_of(&mut child);
    assert!(code == Some(1) && took < PATIENCE, "{code:?} after {took:?}: {}", bench.mindful.says());
    bench.mindful.shows("show", "INVALID…accepted the connection");
}
