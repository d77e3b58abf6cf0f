//! `--live` in a real pseudo-terminal: the screen is taken, drawn, resized, left and given back.

use std::io::{Read as _, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use mindful_conformance::not_run;

use crate::lies::bench::Bench;
use crate::mindful::Mindful;

/// Begins and ends what is drawn over the terminal.
const TAKES: &str = "\u{1b}[?1049h";
const GIVES_BACK: &str = "\u{1b}[?1049l";

/// What a terminal of 100 by 30 shows while `command` runs in it and `keys` are typed, and how it ended; `None` where there
/// is no program that has one.
fn shown(mindful: &Mindful, command: &str, keys: &str) -> Option<(String, Option<i32>)> {
    shown_at([mindful.folder(); 2], command, keys, &[])
}

/// The same in `folder` with runs in `store`, and with `variables` in its environment.
fn shown_at(
    [folder, store]: [&Path; 2],
    command: &str,
    keys: &str,
    variables: &[(&str, &str)],
) -> Option<(String, Option<i32>)> {
    let binary = env!("CARGO_BIN_EXE_mindful");
    let line = format!("stty rows 30 cols 100; (sleep 1; stty rows 40 cols 90 </dev/tty) & {binary} {command}");
    let mut terminal = Command::new("script");
    terminal.args(["-qec", &line, "/dev/null"]).current_dir(folder).env("MINDFUL_STORE", store);
    terminal.env("LANG", "C.UTF-8").env_remove("NO_COLOR").env("TERM", "xterm-256color");
    terminal.envs(variables.iter().copied());
    let started = terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let Ok(mut terminal) = started else {
        not_run("`script` of util-linux, which has a terminal of its own, is not there");
        return None;
    };
    let (mut typing, mut screen) = (terminal.stdin.take().unwrap(), terminal.stdout.take().unwrap());
    let (mut reported, mut typed) = (Vec::new(), keys.is_empty());
    let mut piece = [0; 4096];
    while let Ok(read @ 1..) = screen.read(&mut piece) {
        reported.extend_from_slice(&piece[..read]);
        // What is typed before the screen is taken is thrown away.
        if !typed && String::from_utf8_lossy(&reported).contains(TAKES) {
            typing.write_all(keys.as_bytes()).unwrap();
            typed = true;
        }
    }
    let ended = terminal.wait().unwrap();
    drop(typing);
    Some((String::from_utf8_lossy(&reported).into_owned(), ended.code()))
}

/// What is written, without blanks and what steers the terminal: blanks are not drawn where there is nothing to wipe out.
fn letters(reported: &str) -> String {
    let mut letters = String::new();
    for (at, part) in reported.split("\u{1b}[").enumerate() {
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
    let Some((reported, code)) = shown(&mindful, &command, "") else { return };
    assert_eq!(code, Some(0), "{reported}");
    let (before, rest) = reported.split_once(TAKES).unwrap_or_else(|| panic!("no screen: {reported:?}"));
    let (screen, report) = rest.rsplit_once(GIVES_BACK).unwrap_or_else(|| panic!("it is not given back: {reported:?}"));
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
    let Some((reported, code)) = shown(&mindful, &format!("run --live {SHORT} --duration 3s"), "q") else { return };
    assert_eq!(code, Some(0), "{reported}");
    let (_, rest) = reported.rsplit_once(GIVES_BACK).unwrap_or_else(|| panic!("it is not given back: {reported:?}"));
    assert!(rest.contains("measuring") && rest.contains("so far"), "lines go on: {rest:?}");
    assert!(["measured for 3.0", "measured for 2.9"].iter().any(|reported| rest.contains(reported)), "{rest:?}");
}

#[test]
fn ctrl_c_in_the_view_ends_the_run_and_gives_the_terminal_back() {
    let mindful = Mindful::new();
    let Some((reported, code)) = shown(&mindful, &format!("run --live {SHORT} --duration 60s"), "\u{3}") else {
        return;
    };
    assert_eq!(code, Some(130), "{reported}");
    assert!(!reported.contains(TAKES) || reported.contains(GIVES_BACK), "{reported:?}");
}

#[cfg(feature = "raw")]
#[test]
fn a_contrast_has_the_whole_terminal_for_all_its_rungs() {
    let bench = Bench::new().with_private();
    let (folder, store, data) = (bench.path("."), bench.path("store"), bench.path("private"));
    let small = "--schemas 2 --scale 16MiB --sessions 2 --warmup 200ms --repeat 1 --think-time 5ms..5ms";
    let contrast = |duration| {
        let data = data.display();
        let command = format!("contrast --live --target embedded --data-dir {data} {small} --duration {duration}");
        shown_at([&folder, &store], &command, "", &[])
    };
    // On a full host a session may not get to work in a short window.
    let whole = |shown: &Option<(String, Option<i32>)>| shown.as_ref().is_none_or(|(_, code)| *code == Some(0));
    let shown = ["500ms", "2s"].into_iter().map(contrast).find(whole).unwrap_or_else(|| contrast("5s"));
    let Some((reported, code)) = shown else { return };
    assert_eq!(code, Some(0), "{reported}");
    let (_, rest) = reported.split_once(TAKES).unwrap_or_else(|| panic!("no screen: {reported:?}"));
    let (screen, report) = rest.rsplit_once(GIVES_BACK).unwrap_or_else(|| panic!("it is not given back: {reported:?}"));
    let drawn = letters(screen);
    assert!(drawn.contains("step1:2sessions") && drawn.contains("qleavesthisview"), "{drawn}");
    assert!(report.contains("raw untouched") && report.contains("database, physical"), "{report}");
}

#[test]
fn what_is_watched_has_the_whole_terminal_too() {
    let mindful = Mindful::new();
    let Some((reported, code)) = shown(&mindful, "watch --live --target null: --duration 2s", "") else { return };
    assert!(code == Some(0) && reported.contains(TAKES) && reported.contains(GIVES_BACK), "{reported:?}");
    assert!(letters(&reported).contains("notmeasuring") && letters(&reported).contains("hitratio"), "{reported:?}");
}

/// Whether any text of `reported` has a colour of its own.
fn has_colour(reported: &str) -> bool {
    let steers = reported.split("\u{1b}[").skip(1).filter_map(|part| part.split_once('m'));
    let styles = steers.map(|(numbers, _)| numbers).filter(|numbers| !numbers.contains(|c: char| c.is_alphabetic()));
    styles.flat_map(|numbers| numbers.split(';')).any(|n| matches!(n.parse(), Ok(30..=38_u32 | 90..=97)))
}

#[test]
fn without_colours_the_view_tells_the_same_in_words() {
    let mindful = Mindful::new();
    let command = format!("run --live {SHORT} --duration 2s --hook-before false --hook-failure warn");
    let seen = |variables: &[(&str, &str)]| shown_at([mindful.folder(); 2], &command, "", variables);
    let (Some((coloured, _)), Some((plain, code))) = (seen(&[]), seen(&[("NO_COLOR", "1")])) else { return };
    assert_eq!(code, Some(0), "{plain}");
    let screen = |reported: &str| reported.split_once(TAKES).unwrap().1.rsplit_once(GIVES_BACK).unwrap().0.to_owned();
    for reported in [screen(&coloured), screen(&plain)] {
        assert!(letters(&reported).contains("SUSPECT(hook-failed)"), "{reported:?}");
    }
    assert!(has_colour(&screen(&coloured)) && !has_colour(&screen(&plain)), "{coloured:?}\n{plain:?}");
}

#[test]
fn without_a_terminal_lines_tell_what_goes_on() {
    let mindful = Mindful::new();
    let command = format!("run --live {SHORT} --duration 1s");
    let output = mindful.run(&command.split(' ').collect::<Vec<_>>());
    let reported = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && reported.contains("there is no terminal for --live"), "{reported}");
    assert!(reported.contains("measuring 1 of 1 s, so far ") && !reported.contains(TAKES), "{reported}");
}
