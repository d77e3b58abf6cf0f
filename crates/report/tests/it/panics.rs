//! A panic in the full-screen view, in a real pseudo-terminal.

use std::process::{Command, Stdio};
use std::time::Duration;

use mindful_conformance::not_run;
use mindful_report::live::screen::Screen;

/// Set where the test is the process in the terminal.
const INSIDE: &str = "MINDFUL_TEST_PANICS";
const GIVES_BACK: &str = "\u{1b}[?1049l";

#[test]
fn a_panic_is_reported_on_a_restored_terminal() {
    if std::env::var_os(INSIDE).is_some() {
        let _screen = Screen::open(None, false, || {}).unwrap();
        std::thread::sleep(Duration::from_millis(300));
        panic!("the ground gave way");
    }
    let own = std::env::current_exe().unwrap();
    let line = format!("{} --exact panics::a_panic_is_reported_on_a_restored_terminal --nocapture", own.display());
    let mut terminal = Command::new("script");
    terminal
        .args(["-qec", &format!("stty rows 30 cols 100; {line}; stty -a"), "/dev/null"])
        .env(INSIDE, "1")
        .env("TERM", "xterm-256color");
    let Ok(mut terminal) = terminal.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn() else {
        not_run("`script` of util-linux, which has a terminal of its own, is not there");
        return;
    };
    // At the end of its input, `script` would end the program that waits for keys.
    let typing = terminal.stdin.take();
    let output = terminal.wait_with_output().unwrap();
    drop(typing);
    let shown = String::from_utf8_lossy(&output.stdout);
    let (screen, after) = shown.split_once(GIVES_BACK).unwrap_or_else(|| panic!("it is not given back: {shown:?}"));
    assert!(screen.contains("measuring") && !screen.contains("the ground gave way"), "{shown:?}");
    assert!(after.contains("the ground gave way"), "{shown:?}");
    let settings: Vec<&str> = after.split_whitespace().collect();
    assert!(settings.contains(&"icanon") && settings.contains(&"echo"), "lines are edited again: {shown:?}");
}
