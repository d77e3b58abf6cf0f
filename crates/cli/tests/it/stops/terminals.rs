//! `--live` when its terminal goes away, does not read, or claims an absurd size.

use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use mindful_conformance::pseudo_terminal::PseudoTerminal;
use rustix::process::{Pid, Resource, Rlimit, Signal, kill_process, prlimit};

use super::{end_of, signal};
use crate::mindful::processes::{memory_kib, stat, wait_for_handlers};
use crate::mindful::{Mindful, Words, figure, null, wait_until};

/// Begins and ends what is drawn over the terminal.
const TAKES: &str = "\u{1b}[?1049h";
const GIVES_BACK: &str = "\u{1b}[?1049l";

/// `verb` with its full screen, in a terminal of that size. With `owns` it is its session leader, like a login shell,
/// so that a hang-up is a signal.
fn live(mindful: &Mindful, verb: &str, args: impl Words, size: (u16, u16), owns: bool) -> (PseudoTerminal, Child) {
    let of_null = match verb {
        "watch" => ("watch --target null:", args).words(),
        _ => null(verb, args),
    };
    let mut command = Command::new(if owns { "setsid" } else { "env" });
    command.args(owns.then_some("--ctty")).arg(env!("CARGO_BIN_EXE_mindful")).args(of_null).arg("--live");
    let mut terminal = PseudoTerminal::open(size.0, size.1);
    let child = terminal.connect(&mut mindful.at_home(command)).spawn().unwrap();
    terminal.wait_for(TAKES);
    (terminal, child)
}

/// CPU time of a running process, in seconds.
fn cpu_s(child: &Child) -> f64 {
    stat(child.id())[11..13].iter().map(|ticks| ticks.parse::<f64>().unwrap() / 100.0).sum()
}

fn stored_duration_s(mindful: &Mindful) -> f64 {
    figure(&mindful.json("show latest")["steps"][0], "duration_s")
}

#[test]
fn a_run_continues_after_its_terminal_hangs_up() {
    let mindful = Mindful::new();
    for keys in [&b""[..], b"\x1b["] {
        let (mut terminal, mut run) = live(&mindful, "run", "--duration=4s", (100, 30), false);
        // An incomplete key sequence does not block.
        terminal.type_keys(keys);
        terminal.read_for(Duration::from_millis(500));
        drop(terminal);
        let before = cpu_s(&run);
        std::thread::sleep(Duration::from_secs(2));
        let used = cpu_s(&run) - before;
        assert_eq!(end_of(&mut run).0, Some(0));
        assert!(used < 0.7, "{used} s of CPU in 2 s");
        let measured = stored_duration_s(&mindful);
        assert!((measured - 4.0).abs() < 0.1, "{measured}");
    }
}

#[test]
fn a_hang_up_signal_ends_every_live_verb_and_what_ran_is_stored() {
    let mindful = Mindful::new();
    let slices = || mindful.records().matches("\"event\":\"slice\"").count();
    for (verb, args, code) in [
        ("run", "--duration=60s", 130),
        ("sweep", "--duration=60s --sessions=1,2", 130),
        ("watch", "--duration=60s", 0),
    ] {
        let before = slices();
        let (mut terminal, mut child) = live(&mindful, verb, args, (100, 30), true);
        wait_until("no slice was stored", || {
            terminal.read_for(Duration::from_millis(100));
            verb == "watch" || slices() > before
        });
        drop(terminal);
        // A shell passes it on, and the kernel sends it again when the shell ends.
        for _ in 0..2 {
            std::thread::sleep(Duration::from_millis(50));
            let _ = kill_process(Pid::from_child(&child), Signal::HUP);
        }
        let (ended, after) = end_of(&mut child);
        assert_eq!(ended, Some(code), "{verb}");
        assert!(after < Duration::from_secs(15), "{verb}: {after:?}");
        if verb != "watch" {
            assert!(stored_duration_s(&mindful) > 0.0, "{verb}");
        }
    }
}

#[test]
fn a_watch_without_its_terminal_has_nothing_left_to_do() {
    let mindful = Mindful::new();
    let (mut terminal, mut watch) = live(&mindful, "watch", "", (100, 30), false);
    terminal.read_for(Duration::from_millis(500));
    drop(terminal);
    assert_eq!(end_of(&mut watch).0, Some(0));
}

#[test]
fn a_hang_up_that_nohup_ignores_ends_nothing() {
    let mindful = Mindful::new();
    let mut nohup = Command::new("nohup");
    nohup.arg(env!("CARGO_BIN_EXE_mindful")).args(null("run", "--duration=3s"));
    let mut run = mindful.at_home(nohup).stdout(Stdio::null()).spawn().unwrap();
    wait_for_handlers(&run);
    signal(&run, Signal::HUP);
    assert_eq!(end_of(&mut run).0, Some(0));
}

#[test]
fn a_terminal_of_absurd_size_takes_no_memory() {
    let mindful = Mindful::new();
    for size in [(65_535, 65_535), (5_000, 5_000), (65_535, 1), (1, 65_535), (0, 0)] {
        let (mut terminal, mut run) = live(&mindful, "run", "--duration=1s", size, false);
        let mut peak_kib = 0;
        while terminal.read_for(Duration::from_millis(200)) && run.try_wait().unwrap().is_none() {
            peak_kib = peak_kib.max(memory_kib(run.id(), "VmHWM").unwrap_or(0));
        }
        assert_eq!(end_of(&mut run).0, Some(0), "{size:?}: {}", terminal.text());
        assert!((1..300 << 10).contains(&peak_kib), "{size:?}: {peak_kib} KiB");
    }
}

#[test]
fn a_terminal_that_is_not_read_does_not_block_a_run() {
    let mindful = Mindful::new();
    let (terminal, mut run) =
        live(&mindful, "run", "--duration=2s --hook-after 'yes | head -c 100' --full", (300, 200), false);
    for turn in 0..40 {
        // Each size is drawn from the beginning, until the terminal accepts no more.
        terminal.resize(300, 150 + turn % 2);
        std::thread::sleep(Duration::from_millis(210));
    }
    wait_until("it is stored", || mindful.run("show latest").status.success());
    drop(terminal);
    assert_eq!(end_of(&mut run).0, Some(0));
    assert!((stored_duration_s(&mindful) - 2.0).abs() < 0.1);
}

#[test]
fn a_fatal_signal_gives_the_terminal_back() {
    let mindful = Mindful::new();
    for fatal in [Signal::ABORT, Signal::QUIT, Signal::USR1] {
        let (mut terminal, mut run) = live(&mindful, "run", "--duration=60s", (100, 30), false);
        terminal.read_for(Duration::from_secs(1));
        signal(&run, fatal);
        terminal.wait_for(GIVES_BACK);
        assert_eq!(end_of(&mut run).0, None, "it is ended by the signal");
    }
}

#[test]
fn keys_without_an_end_cost_little_cpu() {
    let mindful = Mindful::new();
    let (mut terminal, mut run) = live(&mindful, "run", "--duration=60s", (100, 30), false);
    terminal.read_for(Duration::from_secs(1));
    let (before, began) = (cpu_s(&run), Instant::now());
    while began.elapsed() < Duration::from_secs(2) {
        terminal.type_keys(b"xxxxxxxx");
        terminal.read_for(Duration::ZERO);
    }
    let used = (cpu_s(&run) - before) / began.elapsed().as_secs_f64();
    signal(&run, Signal::TERM);
    assert_eq!(end_of(&mut run).0, Some(130));
    assert!(used < 0.5, "{used} s of CPU a second");
}

/// `abort` lets no other thread do anything, unlike a signal that is sent.
#[test]
fn a_process_that_aborts_gives_the_terminal_back() {
    let mindful = Mindful::new();
    let (mut terminal, mut run) = live(&mindful, "run", "--duration=60s", (80, 24), false);
    // All its threads are there by then.
    wait_until("it measures nothing", || mindful.records().contains("\"slice\""));
    assert!(!terminal.echoes());
    let none = Rlimit { current: Some(1 << 20), maximum: Some(1 << 20) };
    prlimit(Some(Pid::from_child(&run)), Resource::Data, none).unwrap();
    // A larger screen takes memory.
    terminal.resize(300, 200);
    let shown = terminal.wait_for(GIVES_BACK);
    assert_eq!(end_of(&mut run).0, None, "it is ended by a signal: {shown}");
    terminal.wait_for("mindful: ended by SIGABRT");
    assert!(terminal.echoes());
}
