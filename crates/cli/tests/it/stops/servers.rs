//! Signals while a server keeps mindful waiting: for a lock, for its sessions, for its end.

use std::fs;
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use mindful_conformance::processes::working_in;
use mindful_conformance::{place, quick_place};
use rustix::process::Signal;

use super::standstill::{self, Stopped};
use super::{PATIENCE, appears, assert_interrupted, end_of, signal, until};
use crate::mindful::users_server::UsersServer;
use crate::mindful::{Mindful, ended};

/// Starts a command with its messages in a file of that name.
fn spawn(mindful: &Mindful, args: &[&str], says: &str) -> Child {
    let says = fs::File::create(mindful.path(says)).unwrap();
    mindful.command(args).stdout(Stdio::null()).stderr(says).spawn().unwrap()
}

#[test]
fn a_signal_ends_every_verb_that_waits_for_a_lock() {
    let mindful = Mindful::at(quick_place());
    let server = UsersServer::at(&mindful.path("users"), "shared_buffers=32MB");
    let target = format!("--target={}", server.url());
    mindful.succeed(&["load", &target, "--schemas=2", "--scale=2MiB"]);
    fs::write(mindful.path("plan.toml"), format!("target = \"{}\"\nduration = \"60s\"\n", server.url())).unwrap();
    let waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    let verbs: [&[&str]; 10] = [
        &["run", &target],
        &["load", &target],
        &["verify", &target],
        &["verify", "--full", &target],
        &["cleanup", "--yes", &target],
        &["doctor", &target],
        &["sweep", &target],
        &["run", "--repeat", "2", &target],
        &["contrast", &target],
        &["compare", "--run", "plan.toml", "plan.toml"],
    ];
    for asked in [Signal::INT, Signal::TERM] {
        let holding = server.hold("LOCK TABLE mindful.blocks_1 IN ACCESS EXCLUSIVE MODE");
        let mut children: Vec<_> = verbs.iter().map(|verb| spawn(&mindful, verb, verb[0])).collect();
        until("they do not all wait for the lock", || server.count(waiting) == verbs.len());
        for child in &children {
            signal(child, asked);
        }
        for (child, verb) in children.iter_mut().zip(verbs) {
            let (code, took) = end_of(child);
            assert!(code == Some(130) && took < PATIENCE, "{verb:?}: {code:?} after {took:?}");
        }
        until("a statement is left on the server", || server.count(waiting) == 0);
        drop(holding);
    }
    mindful.succeed(&["list"]);
}

#[test]
fn a_signal_ends_every_verb_and_leaves_no_private_server() {
    // Bare files are read with direct I/O, which a file system in memory lacks.
    let mindful = Mindful::at(place());
    let data = format!("--data-dir={}", mindful.path("data").display());
    let base = [&data, "--schemas=2", "--scale=16MiB", "--duration=60s", "--sessions=2", "--think-time=20ms..20ms"];
    mindful.succeed(&["load", &data, "--schemas=2", "--scale=16MiB"]);
    let hook = |verb: &str| format!("echo 1 >{}", mindful.path(verb).display());
    let plan = format!(
        "data_dir = \"{}\"\nduration = \"60s\"\nsessions = 2\nthink_time = \"20ms..20ms\"\nhook_before = \"{}\"\n",
        mindful.path("data").display(),
        hook("compare")
    );
    fs::write(mindful.path("plan.toml"), plan).unwrap();
    let verbs: [&[&str]; 4] = [
        &["run", "--repeat", "2"],
        &["sweep", "--work-unit=8,16"],
        &["contrast"],
        &["compare", "--run", "plan.toml", "plan.toml"],
    ];
    for (turn, verb) in verbs.into_iter().enumerate() {
        let asked = [Signal::INT, Signal::TERM][turn % 2];
        let begun = format!("--hook-before={}", hook(verb[0]));
        let args = match verb[0] {
            "compare" => verb.to_vec(),
            "contrast" => [verb, &base[..4], &[&begun]].concat(),
            _ => [verb, &base[..], &[&begun]].concat(),
        };
        let mut child = spawn(&mindful, &args, "says");
        appears(&mindful.path(verb[0]));
        thread::sleep(Duration::from_secs(1));
        signal(&child, asked);
        let (code, took) = end_of(&mut child);
        let says = fs::read_to_string(mindful.path("says")).unwrap();
        assert!(code == Some(130) && took < PATIENCE, "{verb:?}: {code:?} after {took:?}: {says}");
        assert!(working_in(&mindful.path("data")).is_empty(), "{verb:?} left a server");
        let shown = mindful.run(&["show"]);
        assert!(String::from_utf8_lossy(&shown.stdout).contains("interrupted"), "{verb:?}: {shown:?}");
    }
}

/// Before its end it must archive its last log segment, which takes five minutes.
#[test]
fn a_second_signal_ends_a_server_that_is_slow_to_stop() {
    let mindful = Mindful::at(quick_place());
    let data = format!("--data-dir={}", mindful.path("data").display());
    let begun = mindful.path("begun");
    let hook = format!("--hook-before=echo 1 >{}", begun.display());
    // The cache holds less than the data, so no server is restarted to fill it.
    let slow = "--set=archive_mode=on,archive_command=sleep 300,shared_buffers=1MB";
    mindful.succeed(&["load", &data, "--schemas=1", "--scale=2MiB"]);
    let args = ["run", &data, "--sessions=1", "--duration=60s", "--think-time=20ms..20ms", slow, &hook];
    for second in [Signal::INT, Signal::TERM] {
        let _ = fs::remove_file(&begun);
        let mut child = spawn(&mindful, &args, "says");
        appears(&begun);
        thread::sleep(Duration::from_secs(1));
        signal(&child, Signal::INT);
        let says = || fs::read_to_string(mindful.path("says")).unwrap();
        until("no message explains the delay", || says().contains("still stopping"));
        assert!(child.try_wait().unwrap().is_none());
        signal(&child, second);
        let (code, took) = end_of(&mut child);
        assert!(code == Some(130) && took < PATIENCE, "{code:?} after {took:?}: {}", says());
        until("a server is left", || working_in(&mindful.path("data")).is_empty());
        let shown = mindful.run(&["show"]);
        assert!(String::from_utf8_lossy(&shown.stdout).contains("interrupted"), "{shown:?}");
    }
    // The killed server recovers.
    let again = mindful.run(&["run", &data, "--duration=1s", "--warmup=0s", "--sessions=1"]);
    assert!(ended(&again), "{again:?}");
}

#[test]
fn a_run_ends_though_its_postgres_is_stopped() {
    let mindful = Mindful::at(quick_place());
    let server = UsersServer::at(&mindful.path("users"), "shared_buffers=32MB");
    standstill::both_loops_end_by_themselves(&server.url(), server.pid());
}

fn is_interrupted(mindful: &Mindful, mut child: Child, asked: Signal) {
    signal(&child, asked);
    let (code, took) = end_of(&mut child);
    let says = fs::read_to_string(mindful.path("says")).unwrap();
    assert!(code == Some(130) && took < PATIENCE, "{code:?} after {took:?}: {says}");
}

#[test]
fn a_signal_ends_a_run_on_a_stopped_postgres() {
    let mindful = Mindful::at(quick_place());
    let server = UsersServer::at(&mindful.path("users"), "shared_buffers=32MB");
    let target = format!("--target={}", server.url());
    let args = ["run", "-q", &target, "--schemas=1", "--scale=8MiB", "--sessions=2", "--duration=60s", "--warmup=0s"];
    let at_work = "SELECT 1 FROM pg_stat_activity WHERE state = 'active' AND query LIKE 'CALL%slice%'";
    for asked in [Signal::INT, Signal::TERM] {
        // Those of the previous run continue until the server notices that their client is gone.
        until("a session is left", || server.count(at_work) == 0);
        let child = spawn(&mindful, &args, "says");
        until("no session works", || server.count(at_work) > 1);
        let _stopped = Stopped::new(server.pid());
        thread::sleep(Duration::from_millis(500));
        is_interrupted(&mindful, child, asked);
    }
}

/// The first request of the step gets no answer.
#[test]
fn a_signal_ends_a_run_whose_postgres_stopped_before_the_step() {
    let mindful = Mindful::at(quick_place());
    let server = UsersServer::at(&mindful.path("users"), "shared_buffers=32MB");
    let (target, begun) = (format!("--target={}", server.url()), mindful.path("begun"));
    let hook = format!("--hook-before=echo 1 >{}; sleep 3", begun.display());
    let child =
        spawn(&mindful, &["run", "-q", &target, "--schemas=1", "--scale=8MiB", "--duration=60s", &hook], "says");
    appears(&begun);
    let _stopped = Stopped::new(server.pid());
    thread::sleep(Duration::from_secs(5));
    is_interrupted(&mindful, child, Signal::TERM);
}

/// Both while it waits for the others, and when it first starts mindful.
#[test]
fn a_signal_ends_ranks_with_a_locked_rendezvous() {
    let mindful = Mindful::at(quick_place());
    let server = UsersServer::at(&mindful.path("users"), "shared_buffers=32MB");
    let meet = format!("--meet={}", server.url());
    let waiting = "SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock'";
    for asked in [Signal::INT, Signal::TERM] {
        let name = format!("job-{}", asked.as_raw());
        let job = format!("--job={name}");
        let rank = |number| {
            spawn(&mindful, &["run", "--target=null:", "--ranks=3", number, &meet, &job, "--sessions=3"], number)
        };
        let first = rank("--rank=0");
        until("the first rank does not come", || {
            let there = "SELECT to_regclass('mindful.meeting') IS NOT NULL AS there";
            server.count(&format!("SELECT 1 FROM ({there}) AS found WHERE there")) == 1
                && server.count(&format!("SELECT 1 FROM mindful.meeting WHERE job = '{name}'")) > 0
        });
        let holding = server.hold("LOCK TABLE mindful.meeting IN ACCESS EXCLUSIVE MODE");
        let second = rank("--rank=1");
        until("they do not both wait for the lock", || server.count(waiting) == 2);
        for mut child in [first, second] {
            assert_interrupted(&mut child, asked, "it");
        }
        until("a statement is left on the server", || server.count(waiting) == 0);
        drop(holding);
    }
}
