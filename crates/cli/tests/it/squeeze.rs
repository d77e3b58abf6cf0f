//! Memory held for a command: the requested amount, only while the command runs, and never after mindful ends.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mindful_host::Kernel;
use mindful_host::memory::Meminfo;
use rustix::process::Signal;

use crate::mindful::processes::memory_kib;
use crate::mindful::{Words, assert_has, kill, message, printed};
use crate::stops::{assert_gone, signal};

fn squeeze(leave: &str, command: impl Words) -> Command {
    let mut squeeze = Command::new(env!("CARGO_BIN_EXE_mindful"));
    squeeze.args(["squeeze", "--leave", leave, "--"]).args(command.words()).stdin(Stdio::null());
    squeeze
}

/// A value for --leave that holds about 600 MiB.
fn leave() -> String {
    let available = Meminfo::read(&Kernel::default()).available_bytes.unwrap();
    format!("{}MiB", (available >> 20) - 600)
}

/// Tests that hold memory do so one after the other: each is affected by the memory of the others.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

#[test]
fn reserved_memory_is_held_and_the_exit_code_passed_on() {
    let _alone = alone();
    let output = squeeze(&leave(), "sh -c 'grep VmRSS /proc/$PPID/status; exit 7'").output().unwrap();
    assert_eq!(output.status.code(), Some(7), "{}", message(&output));
    let seen = printed(&output);
    let resident_mib = seen.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0;
    let text = message(&output);
    let words: Vec<_> = text.split_whitespace().collect();
    let (number, unit) = (words[2].parse::<f64>().unwrap(), words[3]);
    let held_mib = if unit == "GiB" { number * 1024.0 } else { number };
    assert!(held_mib > 10.0 && resident_mib >= held_mib * 0.99, "{held_mib} MiB reported, {resident_mib} MiB resident");
}

#[test]
fn a_command_ended_by_a_signal_is_reported_as_a_shell_would() {
    let _alone = alone();
    let output = squeeze(&leave(), "sh -c 'kill -TERM $$'").output().unwrap();
    assert_eq!(output.status.code(), Some(143), "{}", message(&output));
}

/// A squeeze around `script`, and the first line that it printed.
fn squeezing(script: &str) -> (Child, String) {
    let mut child =
        squeeze(&leave(), ["sh", "-c", script]).stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    (child, line)
}

#[test]
fn nothing_of_the_command_outlives_a_killed_mindful() {
    let _alone = alone();
    let (mut squeezing, sleeper) = squeezing("sleep 1000 & echo $!; wait");
    // SIGKILL: nothing of mindful's can run any more.
    kill(&mut squeezing);
    assert_gone(&sleeper);
}

#[test]
fn a_second_signal_ends_a_command_deaf_to_the_first() {
    let _alone = alone();
    for (first, second) in [(Signal::INT, Signal::INT), (Signal::TERM, Signal::INT), (Signal::INT, Signal::TERM)] {
        let (mut squeezing, sleeper) = squeezing("trap '' INT TERM; sleep 1000 & echo $!; wait; wait; wait");
        signal(&squeezing, first);
        std::thread::sleep(Duration::from_millis(500));
        assert!(squeezing.try_wait().unwrap().is_none(), "the command was not left to its end");
        signal(&squeezing, second);
        assert_eq!(squeezing.wait().unwrap().code(), Some(130));
        assert_gone(&sleeper);
    }
}

#[test]
fn a_signal_while_memory_is_taken_begins_no_command() {
    let _alone = alone();
    let begun = tempfile::tempdir().unwrap();
    let touch = format!("touch {}/begun", begun.path().display());
    let mut taking = squeeze(&leave(), ["sh", "-c", &touch]).spawn().unwrap();
    while memory_kib(taking.id(), "VmRSS").unwrap_or(0) < 100 << 10 {
        assert!(taking.try_wait().unwrap().is_none(), "it took no memory");
    }
    signal(&taking, Signal::TERM);
    assert_eq!(taking.wait().unwrap().code(), Some(130));
    assert!(!begun.path().join("begun").exists());
}

#[test]
fn an_interrupt_reaches_the_command() {
    let _alone = alone();
    let (mut squeezing, _) = squeezing("trap 'exit 9' INT; echo ready; while :; do sleep 0.05; done");
    signal(&squeezing, Signal::INT);
    assert_eq!(squeezing.wait().unwrap().code(), Some(9));
}

#[test]
fn harmful_or_impossible_sizes_are_refused() {
    let _alone = alone();
    for (leave, command, hint) in [
        ("1MiB", "true", "at least 256 MiB"),
        ("1000TiB", "true", "are available"),
        ("64M", "true", "write MiB"),
        (&leave(), "/no/such/program", "cannot start"),
    ] {
        let output = squeeze(leave, command).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{leave}");
        assert_has(message(&output), hint);
    }
}
