//! `--live` in a real pseudo-terminal: the screen is taken, drawn, resized, left and given back.

use mindful_conformance::place;

use crate::mindful::terminal::{terminal, typed};
use crate::mindful::{Mindful, message};

/// Begins and ends what is drawn over the terminal.
const TAKES: &str = "\u{1b}[?1049h";
const GIVES_BACK: &str = "\u{1b}[?1049l";

/// What a terminal of 100 by 30 shows while `command` runs in it and `keys` are typed, and the exit code; `None`
/// without a program for pseudo-terminals.
fn shown(mindful: &Mindful, command: &str, keys: &str) -> Option<(String, Option<i32>)> {
    shown_with(mindful, command, keys, &[])
}

fn shown_with(
    mindful: &Mindful,
    command: &str,
    keys: &str,
    variables: &[(&str, &str)],
) -> Option<(String, Option<i32>)> {
    let binary = env!("CARGO_BIN_EXE_mindful");
    let line = format!("stty rows 30 cols 100; (sleep 1; stty rows 40 cols 90 </dev/tty) & {binary} {command}");
    let mut terminal = terminal(mindful, &line);
    terminal.env("LANG", "C.UTF-8").env_remove("NO_COLOR").env("TERM", "xterm-256color");
    terminal.envs(variables.iter().copied());
    typed(terminal, TAKES, keys)
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
    let (before, rest) = view.split_once(TAKES).unwrap_or_else(|| panic!("no screen: {view:?}"));
    let (screen, report) = rest.rsplit_once(GIVES_BACK).unwrap_or_else(|| panic!("it is not given back: {view:?}"));
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
    let Some((view, code)) = shown(&mindful, &format!("run --live {SHORT} --duration 3s"), "q") else { return };
    assert_eq!(code, Some(0), "{view}");
    let (_, rest) = view.rsplit_once(GIVES_BACK).unwrap_or_else(|| panic!("it is not given back: {view:?}"));
    assert!(rest.contains("measuring") && rest.contains("so far"), "lines continue: {rest:?}");
    assert!(["measured for 3.0", "measured for 2.9"].iter().any(|length| rest.contains(length)), "{rest:?}");
}

#[test]
fn ctrl_c_in_the_view_ends_the_run_and_gives_the_terminal_back() {
    let mindful = Mindful::new();
    let Some((view, code)) = shown(&mindful, &format!("run --live {SHORT} --duration 60s"), "\u{3}") else {
        return;
    };
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
    let (_, rest) = view.split_once(TAKES).unwrap_or_else(|| panic!("no screen: {view:?}"));
    let (screen, report) = rest.rsplit_once(GIVES_BACK).unwrap_or_else(|| panic!("it is not given back: {view:?}"));
    let drawn = letters(screen);
    assert!(drawn.contains("step1:2sessions") && drawn.contains("qleavesthisview"), "{drawn}");
    assert!(report.contains("raw untouched") && report.contains("database, physical"), "{report}");
}

#[test]
fn watch_can_use_the_whole_terminal_too() {
    let mindful = Mindful::new();
    let Some((view, code)) = shown(&mindful, "watch --live --target null: --duration 2s", "") else { return };
    assert!(code == Some(0) && view.contains(TAKES) && view.contains(GIVES_BACK), "{view:?}");
    let drawn = letters(&view);
    assert!(drawn.contains("database") && drawn.contains("topwait"), "{view:?}");
    // What lines name as not measured, and why, the view names too.
    let lines = mindful.run("watch --target null: --duration 1s").stderr;
    for line in String::from_utf8(lines).unwrap().lines().filter(|line| line.starts_with("not measured: ")) {
        let shown: String = letters(line).chars().take(60).collect();
        assert!(drawn.contains(&shown), "no {line:?} in {drawn}");
    }
    mindful.refuses([("watch --live --all --target null:", "--live shows the columns alone")]);
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
    let seen = |variables: &[(&str, &str)]| shown_with(&mindful, &command, "", variables);
    let (Some((coloured, _)), Some((plain, code))) = (seen(&[]), seen(&[("NO_COLOR", "1")])) else { return };
    assert_eq!(code, Some(0), "{plain}");
    let screen = |shown: &str| shown.split_once(TAKES).unwrap().1.rsplit_once(GIVES_BACK).unwrap().0.to_owned();
    for shown in [screen(&coloured), screen(&plain)] {
        assert!(letters(&shown).contains("SUSPECT(hook-failed)"), "{shown:?}");
    }
    assert!(has_colour(&screen(&coloured)) && !has_colour(&screen(&plain)), "{coloured:?}\n{plain:?}");
}

#[test]
fn without_a_terminal_lines_show_progress() {
    let mindful = Mindful::new();
    let command = format!("run --live {SHORT} --duration 1s");
    let output = mindful.run(command.split(' ').collect::<Vec<_>>());
    let lines = message(&output);
    assert!(output.status.success() && lines.contains("--live needs a terminal"), "{lines}");
    assert!(lines.contains("measuring 1 of 1 s, so far ") && !lines.contains(TAKES), "{lines}");
}
