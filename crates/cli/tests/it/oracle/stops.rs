//! Ctrl-C while a statement never ends: the server keeps it, and the measured part of the run stays.

use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use super::fake::PASSWORD;
use super::{Place, made_up, text};
use crate::mindful::wait_until;
use crate::stops::{PATIENCE, end_of, signal};

fn start(place: &Place, verb: &str, args: &[&str]) -> Child {
    let all = [&[verb, "--target", &place.target, "--connect-timeout", "1m"], args].concat();
    let mut command = place.mindful.command(&all);
    command.env("ORACLE_PASSWORD", PASSWORD).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Sends Ctrl-C; returns the output until the end, which must come soon.
fn interrupted(mut child: Child) -> String {
    signal(&child, Signal::INT);
    let (code, took) = end_of(&mut child);
    let message = text(&child.wait_with_output().unwrap());
    assert!(code == Some(130) && took < 2 * PATIENCE, "{code:?} after {took:?}: {message}");
    message
}

const SMALL: [&str; 4] = ["--schemas", "1", "--scale", "400"];

#[test]
fn a_run_in_a_statement_without_end_keeps_its_part() {
    let Some((database, _server, place)) = made_up("stopped_run", 24) else { return };
    assert!(place.run("load", &SMALL).status.success());
    let long = [&SMALL[..], &["--sessions", "1", "--warmup", "0s", "--duration", "5m"]].concat();
    let child = start(&place, "run", &long);
    let visited = || database.state().sessions.values().any(|own| own.statistics.contains_key("physical reads"));
    wait_until("the run begins", visited);
    thread::sleep(Duration::from_secs(3));
    database.hang("slice", true);
    wait_until("a slice is waited for", || database.state().waited_for.contains("slice"));
    let message = interrupted(child);
    assert!(message.contains("interrupted"), "{message}");
    database.hang("slice", false);
    let stored = place.mindful.run(["export", "latest", "--as", "jsonl"]);
    let stored = String::from_utf8(stored.stdout).unwrap();
    let slices = stored.lines().filter(|line| line.contains("\"event\":\"slice\"")).count();
    assert!(slices > 0 && stored.contains("ora-statement-left") && stored.contains("\"interrupted\":true"), "{slices}");
    let shown = text(&place.mindful.run(["show", "latest", "--full"]));
    assert!(shown.contains("interrupted") && shown.contains("ora-statement-left"), "{shown}");
}

#[test]
fn a_load_in_an_endless_statement_continues_later() {
    let Some((database, _server, place)) = made_up("stopped_load", 24) else { return };
    database.hang("blocks", true);
    let child = start(&place, "load", &SMALL);
    wait_until("the table is made", || database.state().seen.contains("blocks"));
    let message = interrupted(child);
    assert!(
        message.contains("loading MINDFUL_BLOCKS_1 was interrupted")
            && message.contains("the server still has its statement"),
        "{message}"
    );
    // A server continues a statement without its client, until it answers.
    database.hang("blocks", false);
    wait_until("the server has made it", || database.state().tables.contains_key("MINDFUL_BLOCKS_1"));
    let loaded = place.run("load", &SMALL);
    assert!(loaded.status.success(), "{}", text(&loaded));
}

#[test]
fn a_doctor_in_an_endless_statement_leaves_no_table() {
    let Some((database, _server, place)) = made_up("stopped_doctor", 24) else { return };
    database.hang("slice", true);
    let child = start(&place, "doctor", &SMALL);
    wait_until("the doctor works", || database.state().seen.contains("slice"));
    let message = interrupted(child);
    assert!(message.contains("the proof was interrupted; its tables are removed"), "{message}");
    assert!(database.state().tables.is_empty(), "{:?}", database.state().tables.keys());
}
