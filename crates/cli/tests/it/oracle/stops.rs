//! Ctrl-C while a statement never ends: the server keeps it, and the measured part of the run stays.

use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;

use super::{Place, SMALL, made_up, text};
use crate::mindful::{assert_has, unwrapped, wait_until};
use crate::stops::{PATIENCE, end_of, signal};

fn start(place: &Place, verb: &str) -> Child {
    place.command((verb, SMALL)).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Sends Ctrl-C; returns the output until the end, which must come soon.
fn interrupted(mut child: Child) -> String {
    signal(&child, Signal::INT);
    let (code, took) = end_of(&mut child);
    let message = text(&child.wait_with_output().unwrap());
    assert!(code == Some(130) && took < 2 * PATIENCE, "{code:?} after {took:?}: {message}");
    message
}

#[test]
fn a_run_in_a_statement_without_end_keeps_its_part() {
    let Some((database, _server, place)) = made_up("stopped_run", 24) else { return };
    place.succeed(("load", SMALL));
    let child = start(&place, "run --sessions 1 --warmup 0s --duration 5m");
    let visited = || database.state().sessions.values().any(|own| own.statistics.contains_key("physical reads"));
    wait_until("the run begins", visited);
    thread::sleep(Duration::from_secs(3));
    database.hang("slice", true);
    wait_until("a slice is waited for", || database.state().waited_for.contains("slice"));
    assert_has(interrupted(child), "interrupted");
    database.hang("slice", false);
    assert_has(place.mindful.records(), "\"event\":\"slice\"…ora-statement-left…\"interrupted\":true");
    assert_has(unwrapped(&place.mindful.text("show --full")), "interrupted…ora-statement-left");
}

#[test]
fn a_load_in_an_endless_statement_continues_later() {
    let Some((database, _server, place)) = made_up("stopped_load", 24) else { return };
    database.hang("blocks", true);
    let child = start(&place, "load");
    wait_until("the table is made", || database.state().seen.contains("blocks"));
    assert_has(interrupted(child), "loading MINDFUL_BLOCKS_1 was interrupted…the server still has its statement");
    // A server continues a statement without its client, until it answers.
    database.hang("blocks", false);
    wait_until("the server has made it", || database.state().tables.contains_key("MINDFUL_BLOCKS_1"));
    place.succeed(("load", SMALL));
}

#[test]
fn a_doctor_in_an_endless_statement_leaves_no_table() {
    let Some((database, _server, place)) = made_up("stopped_doctor", 24) else { return };
    database.hang("slice", true);
    let child = start(&place, "doctor");
    wait_until("the doctor works", || database.state().seen.contains("slice"));
    assert_has(interrupted(child), "the proof was interrupted; its tables are removed");
    assert!(database.state().tables.is_empty(), "{:?}", database.state().tables.keys());
}
