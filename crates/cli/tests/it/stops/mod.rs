//! Events that end mindful soon and quietly: a signal, a reader that leaves, a clock that is set.

#[cfg(all(feature = "sqlite", feature = "raw"))]
mod files;
#[cfg(feature = "postgres")]
mod full_disk;
#[cfg(feature = "postgres")]
mod limits;
#[cfg(all(feature = "postgres", feature = "raw"))]
mod servers;
#[cfg(any(feature = "postgres", feature = "mysql"))]
pub(crate) mod standstill;
mod terminals;

use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use mindful_conformance::place;
use rustix::process::{Pid, Signal, kill_process};

use crate::mindful::processes::{has_ended, wait_for_handlers};
use crate::mindful::{Mindful, kill, null, wait_until};

/// Longest that an end may take: against hangs, on a busy host too.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);
const SHORT: &str = "run --target=null: --scale=256 --warmup=0s --null-latency=1ms --duration=1s";

pub(crate) fn signal(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// Waits for the end of `child`: its exit code and how long that took.
pub(crate) fn end_of(child: &mut Child) -> (Option<i32>, Duration) {
    end_within(child, 3 * PATIENCE)
}

/// The same with a longer limit.
pub(crate) fn end_within(child: &mut Child, limit: Duration) -> (Option<i32>, Duration) {
    let began = Instant::now();
    while began.elapsed() < limit {
        if let Some(status) = child.try_wait().unwrap() {
            return (status.code(), began.elapsed());
        }
        thread::sleep(Duration::from_millis(5));
    }
    kill(child);
    panic!("it did not end");
}

/// Sends `sent`: `child`, a command of `mindful`, ends soon, as interrupted.
pub(crate) fn assert_interrupted(mindful: &Mindful, child: &mut Child, sent: Signal, what: &str) {
    signal(child, sent);
    assert_ends(mindful, child, what);
}

pub(crate) fn assert_ends(mindful: &Mindful, child: &mut Child, what: &str) {
    let (code, took) = end_of(child);
    assert!(code == Some(130) && took < PATIENCE, "{what}: {code:?} after {took:?}: {}", mindful.says());
}

/// Waits for a whole line in a file.
pub(crate) fn appears(path: &Path) -> String {
    let text = || fs::read_to_string(path).unwrap_or_default();
    wait_until(&format!("{} does not appear", path.display()), || text().ends_with('\n'));
    text()
}

/// The process of `pid`, which sleeps for longer, ends soon.
pub(crate) fn assert_gone(pid: &str) {
    let pid = pid.trim().parse().unwrap();
    let began = Instant::now();
    wait_until("a process of the command is still there", || has_ended(pid));
    assert!(began.elapsed() < 2 * PATIENCE, "a process of the command ended after {:?}", began.elapsed());
}

#[test]
fn a_reader_that_goes_ends_every_verb_quietly() {
    let mindful = Mindful::new();
    mindful.succeed(SHORT);
    let unread = format!("{SHORT} --format=json --tag=unread");
    let verbs = "list,show,export --as=jsonl,engines,plan --target=null:,watch --target=null:,--help";
    for verb in verbs.split(',').chain([&*unread]) {
        for stderr_too in [false, true] {
            let errors = if stderr_too { Stdio::piped() } else { Stdio::inherit() };
            let mut child = mindful.command(verb).stdout(Stdio::piped()).stderr(errors).spawn().unwrap();
            drop((child.stdout.take(), child.stderr.take()));
            let (code, took) = end_of(&mut child);
            // A run of a second may be invalid on a busy host.
            let ended = code == Some(0) || verb == unread && code == Some(1);
            assert!(ended && took < PATIENCE, "{verb:?}: {code:?} after {took:?}");
        }
    }
    mindful.succeed("show unread");
}

/// A hook of which a process has left the process group, and outlived its parent.
fn leaving_process(pid: &Path) -> String {
    format!("setsid sh -c 'sleep 1000 & echo $! > {}'; sleep 1000; true", pid.display())
}

#[test]
fn a_signal_ends_a_hook_and_all_it_started() {
    let mindful = Mindful::new();
    let pid = mindful.path("pid");
    let hook = format!("--hook-before={}", leaving_process(&pid));
    let mut child = mindful.command((SHORT, [hook.as_str()])).spawn().unwrap();
    let started = appears(&pid);
    assert_interrupted(&mindful, &mut child, Signal::INT, "it");
    assert_gone(&started);
}

#[test]
fn a_second_signal_ends_a_hook_after_an_interrupted_run() {
    let mindful = Mindful::new();
    let (begun, pid) = (mindful.path("begun"), mindful.path("pid"));
    let before = format!("--hook-before 'echo 1 > {}'", begun.display());
    let after = format!("--hook-after 'sleep 1000 & echo $! > {}; sleep 1000'", pid.display());
    let mut child = mindful.command(null("run", ("--duration=60s", before, after))).spawn().unwrap();
    appears(&begun);
    thread::sleep(Duration::from_millis(500));
    signal(&child, Signal::INT);
    let started = appears(&pid);
    assert_interrupted(&mindful, &mut child, Signal::INT, "it");
    assert_gone(&started);
}

/// Each of `commands` ends at a signal, while the server at `ADDRESS` accepts its connection and sends nothing.
fn all_end_at_a_silent_server(commands: &[String]) {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = silent.local_addr().unwrap().to_string();
    for args in commands {
        for asked in [Signal::INT, Signal::TERM] {
            let mindful = Mindful::new();
            let mut command = mindful.command(args.replace("ADDRESS", &address));
            command.env_remove("http_proxy").env_remove("all_proxy").env_remove("ALL_PROXY");
            let mut child = command.stderr(Stdio::piped()).spawn().unwrap();
            let held = silent.accept().unwrap();
            thread::sleep(Duration::from_millis(200));
            assert_interrupted(&mindful, &mut child, asked, args);
            drop(held);
        }
    }
}

fn open_target(url: &str) -> [String; 6] {
    ["run", "load", "doctor", "cleanup", "watch", "sweep"].map(|verb| format!("{verb} --target={url}"))
}

#[cfg(feature = "postgres")]
#[test]
fn a_signal_ends_the_opening_of_a_silent_server() {
    all_end_at_a_silent_server(&open_target("postgres://me@ADDRESS/me?sslmode=disable"));
}

#[cfg(feature = "mysql")]
#[test]
fn a_signal_ends_the_opening_of_a_silent_mysql() {
    all_end_at_a_silent_server(&open_target("mysql://me@ADDRESS/me?ssl-mode=DISABLED&connect-timeout=600"));
}

#[cfg(all(feature = "postgres", feature = "mysql"))]
#[test]
fn a_signal_ends_a_rank_with_a_silent_rendezvous() {
    let urls = ["postgres://me@ADDRESS/me?sslmode=disable", "mysql://me@ADDRESS/me?ssl-mode=DISABLED"];
    let rank = "run --target=null: --ranks=2 --rank=1 --sessions=2";
    all_end_at_a_silent_server(&urls.map(|url| format!("{rank} --meet={url}")));
}

#[cfg(feature = "postgres")]
#[test]
fn a_signal_ends_a_fetch_that_hangs() {
    let top = place();
    let top = top.path().display();
    let places = format!("--fetch-dir={top}/shelf --data-dir={top}/data --fetch-url=http://ADDRESS");
    all_end_at_a_silent_server(&["run", "load"].map(|verb| format!("{verb} --target=embedded {places}")));
    assert!(!Path::new(&format!("{top}/data")).exists());
}

#[test]
fn a_signal_ends_every_verb_that_measures() {
    let load = "--scale=4096 --schemas=2 --duration=60s --null-latency=1h";
    for verb in ["run", "sweep", "run --repeat=2", "watch"] {
        for asked in [Signal::INT, Signal::TERM] {
            let mindful = Mindful::new();
            let mut child = mindful.command((verb, "--target=null:", load)).spawn().unwrap();
            wait_for_handlers(&child);
            thread::sleep(Duration::from_secs(1));
            signal(&child, asked);
            let (code, took) = end_of(&mut child);
            assert!(took < PATIENCE, "{verb:?}: {code:?} after {took:?}");
            assert!(matches!(code, Some(0 | 130)), "{verb:?}: {code:?}");
        }
    }
}

/// Loaded before the C library: once the file named in SET_CLOCK is there, the wall clock is 40 s back.
const SHIM: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
int clock_gettime(clockid_t id, struct timespec *t) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int done = real(id, t);
    const char *set = getenv("SET_CLOCK");
    if (id == CLOCK_REALTIME && set && access(set, F_OK) == 0) t->tv_sec -= 40;
    return done;
}
"#;

#[test]
fn a_clock_set_back_neither_stretches_a_run_nor_deafens_it() {
    let mindful = Mindful::new();
    let at = |name: &str| mindful.path(name);
    let shim = mindful.library(SHIM);
    let run = |duration: &str| {
        let mut command = mindful.command(null("run", format!("{duration} --tag=set")));
        command.env("LD_PRELOAD", &shim).env("SET_CLOCK", at("set")).stdout(Stdio::null()).spawn().unwrap()
    };
    let mut child = run("--duration=4s");
    wait_until("it measures nothing", || mindful.records().contains("\"slice\""));
    fs::write(at("set"), "").unwrap();
    let (code, took) = end_of(&mut child);
    assert!(took < PATIENCE, "{code:?} {took:?} after the clock was set");
    mindful.shows("show set", "clock-step");
    fs::remove_file(at("set")).unwrap();
    fs::remove_dir_all(at("runs")).unwrap();
    let mut child = run("--duration=60s");
    wait_until("it measures nothing", || mindful.records().contains("\"slice\""));
    fs::write(at("set"), "").unwrap();
    assert_interrupted(&mindful, &mut child, Signal::INT, "it");
}
