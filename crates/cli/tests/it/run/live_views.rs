//! `--live` in a real pseudo-terminal: the screen is taken, drawn, resized, left and given back.

use std::process::Command;

use mindful_conformance::place;

use crate::mindful::terminal::{BINARY, terminal, typed};
use crate::mindful::{Mindful, assert_has, message};

/// Begins and ends what is drawn over the terminal.
const TAKES: &str = "\u{1b}[?1049h";
const GIVES_BACK: &str = "\u{1b}[?1049l";

/// What a terminal of 100 by 30 shows while `command` runs in it and `keys` are typed, and the exit code; `None`
/// without a program for pseudo-terminals.
fn shown(mindful: &Mindful, command: &str, keys: &str) -> Option<(String, Option<i32>)> {
    typed(live_terminal(mindful, command), TAKES, keys)
}

fn live_terminal(mindful: &Mindful, command: &str) -> Command {
    let resize = "stty rows 30 cols 100; (sleep 1; stty rows 40 cols 90 </dev/tty) &";
    let mut terminal = terminal(mindful, &format!("{resize} {BINARY} {command}"));
    terminal.env("LANG", "C.UTF-8").env_remove("NO_COLOR").env("TERM", "xterm-256color");
    terminal
}

/// What was drawn over the terminal, and what followed once it was given back.
fn screen_and_rest(view: &str) -> (&str, &str) {
    let drawn = view.split_once(TAKES).and_then(|(_, drawn)| drawn.rsplit_once(GIVES_BACK));
    drawn.unwrap_or_else(|| panic!("no screen that is given back: {view:?}"))
}

/// The written text, without blanks and control sequences: blanks are drawn only to erase text.
fn letters(shown: &str) -> String {
    let mut letters = String::new();
    for (at, part) in shown.split("\u{1b}[").enumerate() {
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
    let Some((view, code)) = shown(&mindful, &command, "") else { return };
    assert_eq!(code, Some(0), "{view}");
    let (screen, report) = screen_and_rest(&view);
    assert!(!view.split(TAKES).next().unwrap().contains("step 1"), "{view:?}");
    let drawn = letters(screen);
    assert_has(&drawn, "step1:…blocks/s…p99…hitratio…waits…device…qleavesthisview…sofar…p99againstblocks/ssofar");
    assert_has(report, "sessions…stored in");
    assert!(!report.contains("q leaves this view"), "{report:?}");
}

#[test]
fn q_leaves_the_view_and_not_the_run() {
    let mindful = Mindful::new();
    let Some((view, code)) = shown(&mindful, &format!("run --live {SHORT} --duration 3s"), "q") else { return };
    assert_eq!(code, Some(0), "{view}");
    let (_, rest) = screen_and_rest(&view);
    // Lines continue.
    assert_has(rest, "measuring…so far");
    assert!(["measured for 3.0", "measured for 2.9"].iter().any(|length| rest.contains(length)), "{rest:?}");
}

#[test]
fn ctrl_c_in_the_view_ends_the_run_and_gives_the_terminal_back() {
    let mindful = Mindful::new();
    let run = format!("run --live {SHORT} --duration 60s");
    let Some((view, code)) = shown(&mindful, &run, "\u{3}") else { return };
    assert_eq!(code, Some(130), "{view}");
    assert!(!view.contains(TAKES) || view.contains(GIVES_BACK), "{view:?}");
}

#[cfg(feature = "raw")]
#[test]
fn a_contrast_has_the_whole_terminal_for_all_its_levels() {
    let mindful = Mindful::beside_others(place()).with_private();
    let data = mindful.private_folder();
    let small = "--schemas 2 --scale 16MiB --sessions 2 --warmup 200ms --repeat 1 --think-time 5ms..5ms";
    let contrast = |duration| {
        let on = format!("contrast --live --target embedded --data-dir {}", data.display());
        shown(&mindful, &format!("{on} {small} --duration {duration}"), "")
    };
    // On a full host a session may not get to work in a short window.
    let whole = |view: &Option<(String, Option<i32>)>| view.as_ref().is_none_or(|(_, code)| *code == Some(0));
    let view = ["500ms", "2s"].into_iter().map(contrast).find(whole).unwrap_or_else(|| contrast("5s"));
    let Some((view, code)) = view else { return };
    assert_eq!(code, Some(0), "{view}");
    let (screen, report) = screen_and_rest(&view);
    assert_has(letters(screen), "step1:2sessions…qleavesthisview");
    assert_has(report, "raw untouched…database, physical");
}

#[test]
fn watch_can_use_the_whole_terminal_too() {
    let mindful = Mindful::new();
    let Some((view, code)) = shown(&mindful, "watch --live --target null: --duration 2s", "") else { return };
    assert!(code == Some(0) && view.contains(TAKES) && view.contains(GIVES_BACK), "{view:?}");
    let drawn = letters(&view);
    assert_has(&drawn, "database…topwait");
    // What lines name as not measured, and why, the view names too.
    let lines = message(&mindful.run("watch --target null: --duration 1s"));
    for line in lines.lines().filter(|line| line.starts_with("not measured: ")) {
        assert_has(&drawn, letters(line).chars().take(60).collect::<String>());
    }
    mindful.refuses("watch --live --all --target null:", "--live shows the columns alone");
}

/// Whether any text of `reported` has a colour of its own.
fn has_colour(shown: &str) -> bool {
    let steers = shown.split("\u{1b}[").skip(1).filter_map(|part| part.split_once('m'));
    let styles = steers.map(|(numbers, _)| numbers).filter(|numbers| !numbers.contains(|c: char| c.is_alphabetic()));
    styles.flat_map(|numbers| numbers.split(';')).any(|n| matches!(n.parse(), Ok(30..=38_u32 | 90..=97)))
}

#[test]
fn without_colours_the_view_shows_the_same_in_words() {
    let mindful = Mindful::new();
    let command = format!("run --live {SHORT} --duration 2s --hook-before false --hook-failure warn");
    let Some((coloured, _)) = shown(&mindful, &command, "") else { return };
    let mut terminal = live_terminal(&mindful, &command);
    terminal.env("NO_COLOR", "1");
    let (plain, code) = typed(terminal, TAKES, "").unwrap();
    assert_eq!(code, Some(0), "{plain}");
    let [coloured, plain] = [&coloured, &plain].map(|view| screen_and_rest(view).0);
    for shown in [coloured, plain] {
        assert_has(letters(shown), "SUSPECT(hook-failed)");
    }
    assert!(has_colour(coloured) && !has_colour(plain), "{coloured:?}\n{plain:?}");
}

#[test]
fn without_a_terminal_lines_show_progress() {
    let mindful = Mindful::new();
    let lines = message(&mindful.succeed(format!("run --live {SHORT} --duration 1s")));
    assert_has(&lines, "--live needs a terminal…measuring 1 of 1 s, so far ");
    assert!(!lines.contains(TAKES), "{lines}");
}
