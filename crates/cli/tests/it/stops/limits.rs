//! Limits of the process: no more threads, no larger files, and fatal signals.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, Output};
use std::time::Duration;

use mindful_conformance::not_run;
use rustix::process::Signal;

use super::{appears, assert_gone, assert_interrupted, end_within, leaving_process, signal};
use crate::mindful::processes::wait_for_handlers;
use crate::mindful::{Mindful, Words, message, null};

/// A user that no other process has, to which a limit of processes applies.
const ALONE: u32 = 60_871;

/// A place of that user; `None` after a notice that only root becomes another.
fn of_another_user() -> Option<Mindful> {
    if !rustix::process::geteuid().is_root() {
        not_run("only root becomes a user without other processes");
        return None;
    }
    let mindful = Mindful::new();
    std::os::unix::fs::chown(mindful.folder(), Some(ALONE), Some(ALONE)).unwrap();
    Some(mindful)
}

fn as_another_user() -> Command {
    let mut command = Command::new("setpriv");
    command.args([&format!("--reuid={ALONE}"), "--clear-groups"]);
    command
}

/// The output of `args` if mindful may have so many threads.
fn with_threads(mindful: &Mindful, threads: usize, args: impl Words) -> Output {
    let mut limited = as_another_user();
    limited.args(["prlimit", &format!("--nproc={threads}")]).arg(env!("CARGO_BIN_EXE_mindful")).args(args.words());
    let [stdout, stderr] = ["stdout", "stderr"].map(|name| mindful.path(name));
    let mut limited = mindful.at_home(limited);
    limited.stdout(fs::File::create(&stdout).unwrap()).stderr(fs::File::create(&stderr).unwrap());
    let mut child = limited.spawn().unwrap();
    end_within(&mut child, Duration::from_mins(1));
    Output { status: child.wait().unwrap(), stdout: fs::read(stdout).unwrap(), stderr: fs::read(stderr).unwrap() }
}

#[test]
fn a_thread_that_cannot_be_started_is_an_error_without_a_hang() {
    let Some(mindful) = of_another_user() else { return };
    let run = null("run", "--sessions=4 --duration=500ms").join(" ");
    for args in [
        &run,
        &format!("{run} --ranks=2"),
        "watch --target=null: --duration=1s",
        "doctor --target=null:",
        "doctor --target=postgres://me@127.0.0.1:1/me?sslmode=disable",
    ] {
        for threads in 1..=9 {
            let output = with_threads(&mindful, threads, args);
            let sound = output.status.code().is_some_and(|code| code <= 3) && !message(&output).contains("panicked");
            assert!(sound, "{threads} threads, {args:?}: {output:?}");
        }
    }
}

#[test]
fn a_file_size_limit_is_an_error_that_names_its_file() {
    let mindful = Mindful::new();
    let mut limited = Command::new("prlimit");
    limited.args(["--fsize=20000", env!("CARGO_BIN_EXE_mindful")]).args(null("run", "--duration=3s"));
    let output = mindful.at_home(limited).output().unwrap();
    assert_eq!(output.status.signal(), None, "{output:?}");
    assert!(message(&output).contains("File too large") && matches!(output.status.code(), Some(1 | 2)), "{output:?}");
}

#[test]
fn inherited_signals_and_masks_prevent_no_run() {
    let Some(mindful) = of_another_user() else { return };
    let mut odd = as_another_user();
    odd.args(["env", "--ignore-signal=CHLD"]);
    odd.args(["sh", "-c", "umask 0777; exec \"$0\" \"$@\"", env!("CARGO_BIN_EXE_mindful")]);
    let output = mindful.at_home(odd).args(null("run", "--hook-before=true --duration=500ms")).output().unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn a_signal_that_the_parent_blocked_ends_a_run() {
    let mindful = Mindful::new();
    let mut blocking = Command::new("env");
    blocking.args(["--block-signal=TERM", env!("CARGO_BIN_EXE_mindful")]);
    let mut child = mindful.at_home(blocking).args(null("run", "--duration=60s")).spawn().unwrap();
    wait_for_handlers(&child);
    assert_interrupted(&mindful, &mut child, Signal::TERM, "it");
}

#[test]
fn whatever_ends_mindful_ends_its_hooks() {
    let mindful = Mindful::new();
    for fatal in [Signal::QUIT, Signal::USR1, Signal::ALARM, Signal::ABORT, Signal::SEGV, Signal::KILL] {
        let pid = mindful.path(format!("pid-{}", fatal.as_raw()));
        let hook = format!("--hook-before={}", leaving_process(&pid));
        let mut child = mindful.start(null("run", [hook.as_str()]));
        let started = appears(&pid);
        // The runtime ignores the first SIGSEGV that no instruction caused.
        for _ in 0..2 {
            signal(&child, fatal);
            std::thread::sleep(Duration::from_millis(100));
        }
        end_within(&mut child, Duration::from_secs(30));
        assert_gone(&started);
        let _ = fs::remove_file(pid);
    }
}
