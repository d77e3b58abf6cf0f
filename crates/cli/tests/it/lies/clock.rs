//! A clock that is set while sessions work. The host's clock may not be set: the null engine has one of its own, a
//! PostgreSQL shows one where the role's search path names another `clock_timestamp` before its own, and libfaketime
//! changes it for the programs that load it.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use mindful_conformance::{not_run, place, write_program};

use crate::lies::stalls::all_at_work;
use crate::mindful::report::{Report, next_to};
use crate::mindful::users_server::UsersServer;
use crate::mindful::{Mindful, PAUSES, private, wait_until};
use crate::stops::end_within;

/// Its places on Debian, Fedora and openSUSE.
fn faketime() -> Option<PathBuf> {
    let folders = fs::read_dir("/usr/lib").unwrap().flatten().map(|entry| entry.path());
    let all = folders.chain(["/usr/lib64", "/usr/lib"].map(PathBuf::from));
    all.map(|folder| folder.join("faketime/libfaketime.so.1")).find(|library| library.exists())
}

/// A clock that a test sets for some programs.
struct Settable<'a> {
    mindful: &'a Mindful,
    library: PathBuf,
}

impl<'a> Settable<'a> {
    /// `None` without libfaketime, after a notice.
    fn on(mindful: &'a Mindful) -> Option<Self> {
        let Some(library) = faketime() else {
            not_run("libfaketime is not installed");
            return None;
        };
        let clock = Self { mindful, library };
        clock.set(0);
        Some(clock)
    }

    /// Ahead of the true time by so many seconds.
    fn set(&self, ahead_s: i32) {
        let (new, path) = (self.mindful.path("offset.new"), self.mindful.path("offset"));
        fs::write(&new, format!("{ahead_s:+}")).unwrap();
        fs::rename(new, path).unwrap();
    }

    /// A program sees it only in the wall clock, read each time.
    fn shown(&self) -> [(&'static str, String); 4] {
        [
            ("LD_PRELOAD", self.library.display().to_string()),
            ("FAKETIME_TIMESTAMP_FILE", self.mindful.path("offset").display().to_string()),
            ("FAKETIME_NO_CACHE", "1".to_owned()),
            ("FAKETIME_DONT_FAKE_MONOTONIC", "1".to_owned()),
        ]
    }

    /// A folder with programs of PostgreSQL that use this clock.
    fn programs(&self) -> PathBuf {
        private::copy_to(&self.mindful.path("true"));
        let server = UsersServer::at(&self.mindful.path("true"), "shared_buffers=16MB");
        let real = fs::read_link(format!("/proc/{}/exe", server.pid())).unwrap();
        let folder = self.mindful.path("programs");
        fs::create_dir(&folder).unwrap();
        let shown: Vec<String> = self.shown().iter().map(|(name, value)| format!("{name}='{value}'")).collect();
        let shown = shown.join(" ") + " ";
        for name in ["postgres", "initdb"] {
            let program = folder.join(name);
            let exec = format!("#!/bin/sh\nexec env {shown}{}/{name} \"$@\"\n", real.parent().unwrap().display());
            write_program(&program, &exec);
        }
        folder
    }
}

/// A run of a minute; the clock is set after two seconds of work. Returns its report, and its duration from then.
fn set_under(mindful: &Mindful, clock: &Settable<'_>, mut run: Command, ahead_s: i32) -> (Report, Duration) {
    let output = fs::File::create(mindful.path("output")).unwrap();
    let mut child = run.stdout(output).stderr(Stdio::null()).spawn().unwrap();
    wait_until("it measures nothing", || {
        assert!(child.try_wait().unwrap().is_none(), "it ended");
        is_under_way(mindful)
    });
    thread::sleep(Duration::from_secs(2));
    clock.set(ahead_s);
    let (_, took) = end_within(&mut child, Duration::from_secs(100));
    clock.set(0);
    let (status, stdout) = (child.wait().unwrap(), fs::read(mindful.path("output")).unwrap());
    (mindful.report(&Output { status, stdout, stderr: Vec::new() }), took)
}

/// Whether a run has a slice and has not ended.
fn is_under_way(mindful: &Mindful) -> bool {
    let files = fs::read_dir(mindful.runs()).into_iter().flatten().flatten().map(|run| run.path().join("run.jsonl"));
    let texts = files.filter_map(|path| fs::read_to_string(path).ok());
    texts.filter(|text| !text.contains(r#""event":"finished""#)).any(|text| text.contains(r#""event":"slice""#))
}

const SMALL: &str = "run --format=json --scale=16MiB --schemas=2 --sessions=1 --warmup=0s --think-time=20ms..20ms";

fn assert_reported(report: &Report, took: Duration) {
    assert!(report.has("clock-step"), "{report}");
    assert_eq!(report.validity(), "invalid", "{report}");
    assert!(report.text.contains("a clock was set during the run"), "{report}");
    // Far less than the rest of the minute.
    assert!(took < Duration::from_secs(40), "{took:?} after the clock was set: {report}");
}

#[test]
fn setting_the_clock_of_a_remote_server_ends_the_run() {
    let mindful = Mindful::beside_others(place());
    let Some(clock) = Settable::on(&mindful) else { return };
    private::copy_to(&mindful.path("users"));
    let server = UsersServer::of(&mindful.path("users"), &[("pg_bin", &clock.programs().display().to_string())]);
    let run = |more: &str| mindful.command((SMALL, format!("--target={}", server.url()), more));
    for ahead_s in [-40, 40] {
        let (report, took) = set_under(&mindful, &clock, run("--loop=server --duration=60s"), ahead_s);
        assert_reported(&report, took);
    }
    // The loop in the client uses the client's clock.
    let (report, _) = set_under(&mindful, &clock, run("--loop=client --duration=6s"), -40);
    // On a busy host a short window may end late, which is invalid for another reason.
    assert!(!report.has("clock-step"), "{report}");
    assert!(report.validity() != "invalid" || report.has("short-window"), "{report}");
}

#[test]
fn setting_the_hosts_clock_ends_a_run_on_its_own_server() {
    let mindful = Mindful::beside_others(place());
    let Some(clock) = Settable::on(&mindful) else { return };
    let programs = format!("--pg-bin={}", clock.programs().display());
    private::copy_to(&mindful.private_folder());
    for ahead_s in [-40, 40] {
        let mut run = mindful.on_private((SMALL, "--duration=60s", &programs));
        run.envs(clock.shown());
        let (report, took) = set_under(&mindful, &clock, run, ahead_s);
        assert_reported(&report, took);
    }
}

#[test]
fn a_clock_that_was_set_in_the_window_is_reported() {
    let mindful = Mindful::at(place());
    let run = "--target null: --scale 1000 --null-latency 1ms --null-clock-offset 1h";
    assert!(!mindful.short_run(run).has("clock-step"));
    let stepped = mindful.short_run((run, "--null-clock-step 2s+400ms"));
    stepped.assert_suspect("clock-step");
    assert!(stepped.evidence("clock-step").contains("moved 4"), "{}", stepped.evidence("clock-step"));
}

#[test]
fn a_servers_clock_set_during_the_run_is_reported() {
    let (mindful, server) = UsersServer::beside_others("shared_buffers=64MB");
    server.sql(
        "CREATE SCHEMA settable;
         CREATE TABLE settable.ahead AS SELECT interval '0' AS by;
         SET allow_system_table_mods = on;
         ALTER FUNCTION pg_catalog.clock_timestamp() RENAME TO true_clock_timestamp;
         CREATE FUNCTION pg_catalog.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql
             AS 'SELECT pg_catalog.true_clock_timestamp() + by FROM settable.ahead'",
    );
    let kept = server.run(&mindful, PAUSES);
    assert!(!kept.has("clock-step"), "{kept}");
    let leap = || {
        server.sql(&all_at_work(2, 1.0));
        server.sql("UPDATE settable.ahead SET by = by + interval '400 ms'");
    };
    next_to(leap, || server.run(&mindful, PAUSES)).assert_suspect("clock-step");
}
