//! Signals while a server keeps mindful waiting: for a lock, for its sessions, for its end.

use std::fs;
use std::thread;
use std::time::Duration;

use mindful_conformance::processes::working_in;
use mindful_conformance::{place, quick_place};
use rustix::process::Signal;

use super::standstill::{self, Stopped};
use super::{appears, assert_ends, assert_interrupted, signal};
use crate::mindful::users_server::UsersServer;
use crate::mindful::{Mindful, ended, wait_until};

/// A server with little cache, and a mindful for runs on it.
fn server() -> (Mindful, UsersServer) {
    let mindful = Mindful::at(quick_place());
    let server = UsersServer::at(&mindful.path("users"), "shared_buffers=32MB");
    (mindful, server)
}

const WAITING: &str = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'";

#[test]
fn a_signal_ends_every_verb_that_waits_for_a_lock() {
    let (mindful, server) = server();
    let target = format!("--target={}", server.url());
    mindful.succeed(format!("load {target} --schemas=2 --scale=2MiB"));
    fs::write(mindful.path("plan.toml"), format!("target = \"{}\"\nduration = \"60s\"\n", server.url())).unwrap();
    let verbs = "run,load,verify,verify --full,cleanup --yes,doctor,sweep,run --repeat 2,contrast".split(',');
    let verbs: Vec<String> = verbs.map(|verb| format!("{verb} {target}")).chain([PLANS.to_owned()]).collect();
    for asked in [Signal::INT, Signal::TERM] {
        let holding = server.hold("LOCK TABLE mindful.blocks_1 IN ACCESS EXCLUSIVE MODE");
        let mut children: Vec<_> = verbs.iter().map(|verb| mindful.start(verb)).collect();
        wait_until("they do not all wait for the lock", || server.count(WAITING) == verbs.len());
        for child in &children {
            signal(child, asked);
        }
        for (child, verb) in children.iter_mut().zip(&verbs) {
            assert_ends(&mindful, child, verb);
        }
        wait_until("a statement is left on the server", || server.count(WAITING) == 0);
        drop(holding);
    }
    mindful.succeed("list");
}

#[test]
fn a_signal_ends_every_verb_and_leaves_no_private_server() {
    // Bare files are read with direct I/O, which a file system in memory lacks.
    let mindful = Mindful::at(place());
    let data = mindful.private_folder();
    mindful.succeed(format!("load --data-dir={} --schemas=2 --scale=16MiB", data.display()));
    let plan = "duration = \"60s\"\nsessions = 2\nthink_time = \"20ms..20ms\"\n";
    let plan = format!("{plan}data_dir = \"{}\"\nhook_before = \"{BEGUN}\"\n", data.display());
    fs::write(mindful.path("plan.toml"), plan).unwrap();
    let size = format!("--data-dir={} --schemas=2 --scale=16MiB --duration=60s", data.display());
    let size = format!("{size} --hook-before '{BEGUN}'");
    let paced = format!("{size} --sessions=2 --think-time=20ms..20ms");
    let verbs = [
        format!("run --repeat 2 {paced}"),
        format!("sweep --work-unit=8,16 {paced}"),
        format!("contrast {size}"),
        PLANS.to_owned(),
    ];
    for (verb, asked) in verbs.iter().zip([Signal::INT, Signal::TERM].into_iter().cycle()) {
        let mut child = mindful.start_telling(verb);
        has_begun(&mindful);
        assert_interrupted(&mindful, &mut child, asked, verb);
        assert!(working_in(&data).is_empty(), "{verb} left a server");
        mindful.shows("show", "interrupted");
    }
}

/// A hook that tells that a run has begun.
const BEGUN: &str = "echo 1 >begun";
const PLANS: &str = "compare --run plan.toml plan.toml";

/// Waits until a run with that hook works.
fn has_begun(mindful: &Mindful) {
    appears(&mindful.path("begun"));
    fs::remove_file(mindful.path("begun")).unwrap();
    thread::sleep(Duration::from_secs(1));
}

/// Before its end it must archive its last log segment, which takes five minutes.
#[test]
fn a_second_signal_ends_a_server_that_is_slow_to_stop() {
    let mindful = Mindful::at(quick_place());
    let on = |args: &str| format!("{args} --data-dir={}", mindful.private_folder().display());
    mindful.succeed(on("load --schemas=1 --scale=2MiB"));
    // The cache holds less than the data, so no server is restarted to fill it.
    let slow = "--set 'archive_mode=on,archive_command=sleep 300,shared_buffers=1MB'";
    let run = on("run --sessions=1 --duration=60s --think-time=20ms..20ms");
    for second in [Signal::INT, Signal::TERM] {
        let mut child = mindful.start_telling(format!("{run} {slow} --hook-before '{BEGUN}'"));
        has_begun(&mindful);
        signal(&child, Signal::INT);
        wait_until("no message explains the delay", || mindful.says().contains("still stopping"));
        assert!(child.try_wait().unwrap().is_none());
        assert_interrupted(&mindful, &mut child, second, "it");
        wait_until("a server is left", || working_in(&mindful.private_folder()).is_empty());
        mindful.shows("show", "interrupted");
    }
    // The killed server recovers.
    let again = mindful.run(on("run --duration=1s --warmup=0s --sessions=1"));
    assert!(ended(&again), "{again:?}");
}

#[test]
fn a_run_ends_though_its_postgres_is_stopped() {
    let (_mindful, server) = server();
    standstill::both_loops_end_by_themselves(&server.url(), server.pid());
}

#[test]
fn a_signal_ends_a_run_on_a_stopped_postgres() {
    let (mindful, server) = server();
    let url = server.url();
    let args = format!("run -q --target={url} --schemas=1 --scale=8MiB --sessions=2 --duration=60s --warmup=0s");
    let at_work = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'CALL%slice%'";
    for asked in [Signal::INT, Signal::TERM] {
        // Those of the previous run continue until the server notices that their client is gone.
        wait_until("a session is left", || server.count(at_work) == 0);
        let mut child = mindful.start_telling(&args);
        wait_until("no session works", || server.count(at_work) > 1);
        let _stopped = Stopped::new(server.pid());
        thread::sleep(Duration::from_millis(500));
        assert_interrupted(&mindful, &mut child, asked, "it");
    }
}

/// The first request of the step gets no answer.
#[test]
fn a_signal_ends_a_run_whose_postgres_stopped_before_the_step() {
    let (mindful, server) = server();
    let run = format!("run -q --target={} --schemas=1 --scale=8MiB --duration=60s", server.url());
    let mut child = mindful.start_telling((run, format!("--hook-before '{BEGUN}; sleep 3'")));
    appears(&mindful.path("begun"));
    let _stopped = Stopped::new(server.pid());
    thread::sleep(Duration::from_secs(5));
    assert_interrupted(&mindful, &mut child, Signal::TERM, "it");
}

/// Both while it waits for the others, and when it first starts mindful.
#[test]
fn a_signal_ends_ranks_with_a_locked_rendezvous() {
    let (mindful, server) = server();
    for asked in [Signal::INT, Signal::TERM] {
        let name = format!("job-{}", asked.as_raw());
        let job = format!("run --target=null: --ranks=3 --sessions=3 --meet={} --job={name}", server.url());
        let rank = |number| mindful.start((&job, number));
        let first = rank("--rank=0");
        wait_until("the first rank does not come", || {
            let there = "SELECT to_regclass('mindful.meeting') IS NOT NULL AS there";
            server.count(&format!("SELECT 1 FROM ({there}) AS found WHERE there")) == 1
                && server.count(&format!("SELECT 1 FROM mindful.meeting WHERE job = '{name}'")) > 0
        });
        let holding = server.hold("LOCK TABLE mindful.meeting IN ACCESS EXCLUSIVE MODE");
        let second = rank("--rank=1");
        wait_until("they do not both wait for the lock", || server.count(WAITING) == 2);
        for mut child in [first, second] {
            assert_interrupted(&mindful, &mut child, asked, "it");
        }
        wait_until("a statement is left on the server", || server.count(WAITING) == 0);
        drop(holding);
    }
}
