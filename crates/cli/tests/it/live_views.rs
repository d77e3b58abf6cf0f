//! `--live` in a real pseudo-terminal: the screen is taken, drawn, resized, left and given back.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use mindful_conformance::not_run;

use crate::mindful::Mindful;

/// Begins and ends what is drawn over the terminal.
const TAKES: &str = "\u{1b}[?1049h";
const GIVES_BACK: &str = "\u{1b}[?1049l";

/// What a terminal of 100 by 30 shows while `command` runs in it and `keys` are typed, and how it ended; `None` where there
/// is no program that has one.
fn shown(mindful: &Mindful, command: &str, keys: &str) -> Option<(String, Option<i32>)> {
    let binary = env!("CARGO_BIN_EXE_mindful");
    let line = format!("stty rows 30 cols 100; (sleep 1; stty rows 40 cols 90 </dev/tty) & {binary} {command}");
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &line, "/dev/null"]).current_dir(mindful.folder()).env("MINDFUL_STORE", mindful.folder());
    terminal.env("LANG", "C.UTF-8").env_remove("NO_COLOR").env("TERM", "xterm-256color");
    let started = terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut terminal) = started else {
        not_run("`script` of util-linux, which has a terminal of its own, is not there");
        return None;
    };
    let mut typing = terminal.stdin.take().unwrap();
    std::thread::sleep(Duration::from_millis(500));
    typing.write_all(keys.as_bytes()).unwrap();
    let output = terminal.wait_with_output().unwrap();
    drop(typing);
    Some((String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code()))
}

/// What is written, without blanks and what steers the terminal: blanks are not drawn where there is nothing to wipe out.
fn letters(told: &str) -> String {
    let mut letters = String::new();
    for (at, part) in told.split("\u{1b}[").enumerate() {
        let end = if at == 0 { Some(0) } else { part.find(|c: char| c.is_ascii_alphabetic()).map(|end| end + 1) };
        letters.extend(part[end.unwrap_or(part.len())..].chars().filter(|c| !c.is_whitespace()));
    }
    letters
}

const SHORT: &str = "--target null: --scale 1000 --warmup 0s --null-latency 1ms";

#[test]
fn a_sweep_has_the_whole_terminal_until_it_ends() {
    let mindful = Mindful::new();
    let command = format!("sweep --live {SHORT} --duration 1s --sessions 1,2,4");
    let Some((told, code)) = shown(&mindful, &command, "") else { return };
    assert_eq!(code, Some(0), "{told}");
    let (before, rest) = told.split_once(TAKES).unwrap_or_else(|| panic!("no screen: {told:?}"));
    let (screen, report) = rest.rsplit_once(GIVES_BACK).unwrap_or_else(|| panic!("it is not given back: {told:?}"));
    assert!(!before.contains("step 1"), "{before:?}");
    let drawn = letters(screen);
    for part in ["step1:", "blocks/s", "p99", "hitratio", "waits", "device", "qleavesthisview", "sofar"] {
        assert!(drawn.contains(part), "no {part}: {drawn}");
    }
    assert!(drawn.contains("p99againstblocks/ssofar"), "the curve so far: {drawn}");
    assert!(report.contains("sessions") && report.contains("stored in"), "{report:?}");
    assert!(!report.contains("q leaves this view"), "{report:?}");
}

#[test]
fn q_leaves_the_view_and_not_the_run() {
    let mindful = Mindful::new();
    let Some((told, code)) = shown(&mindful, &format!("run --live {SHORT} --duration 3s"), "q") else { return };
    assert_eq!(code, Some(0), "{told}");
    let (_, rest) = told.rsplit_once(GIVES_BACK).unwrap_or_else(|| panic!("it is not given back: {told:?}"));
    assert!(rest.contains("measuring") && rest.contains("so far"), "lines go on: {rest:?}");
    assert!(rest.contains("measured for 3.00 s"), "{rest:?}");
}

#[test]
fn ctrl_c_in_the_view_ends_the_run_and_gives_the_terminal_back() {
    let mindful = Mindful::new();
    let Some((told, code)) = shown(&mindful, &format!("run --live {SHORT} --duration 60s"), "\u{3}") else { return };
    assert_eq!(code, Some(130), "{told}");
    assert!(!told.contains(TAKES) || told.contains(GIVES_BACK), "{told:?}");
}

#[test]
fn what_is_watched_has_the_whole_terminal_too() {
    let mindful = Mindful::new();
    let Some((told, code)) = shown(&mindful, "watch --live --target null: --duration 2s", "") else { return };
    assert!(code == Some(0) && told.contains(TAKES) && told.contains(GIVES_BACK), "{told:?}");
    assert!(letters(&told).contains("notmeasuring") && letters(&told).contains("hitratio"), "{told:?}");
}

#[test]
fn without_a_terminal_lines_tell_what_goes_on() {
    let mindful = Mindful::new();
    let command = format!("run --live {SHORT} --duration 1s");
    let output = mindful.run(&command.split(' ').collect::<Vec<_>>());
    let told = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && told.contains("there is no terminal for --live"), "{told}");
    assert!(told.contains("measuring 1 of 1 s, so far ") && !told.contains(TAKES), "{told}");
}
