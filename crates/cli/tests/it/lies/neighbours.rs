//! Work of others that is counted as the database's.

use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::lies::stalls::{all_at_work, figure};
use crate::mindful::processes::Background;
use crate::mindful::quiet::Quiet;
use crate::mindful::report::{Report, during, retried};
use crate::mindful::users_server::UsersServer;
use crate::mindful::{Mindful, PAUSES, short_run};
use mindful_conformance::place;

pub(crate) fn reader(mindful: &Mindful) -> Background {
    let other = "--target raw:other --schemas 1 --scale 64MiB";
    mindful.succeed(("load", other));
    Background(mindful.start(("run", other, "--sessions 4 --warmup 0s --duration 10m")))
}

/// Computes until it is dropped, under a name of its own.
pub(crate) fn busy_loop(mindful: &Mindful, name: &str) -> Background {
    let program = mindful.path(name);
    if !program.exists() {
        std::os::unix::fs::symlink("/bin/sh", &program).unwrap();
    }
    // A session of its own: the kernel may distribute CPU by sessions, and the server is in this one.
    Background(Command::new("setsid").arg(program).args(["-c", "while :; do :; done"]).spawn().unwrap())
}

/// `run` on `server` next to so many busy loops, which begin with its sessions: before that they would only delay it.
pub(crate) fn beside_loops(
    mindful: &Mindful,
    server: &UsersServer,
    sessions: usize,
    loops: usize,
    run: impl FnOnce() -> Report,
) -> Report {
    let at_work = |done: &AtomicBool| {
        server.sql(&all_at_work(sessions, 0.0));
        let _loops: Vec<_> = (0..loops).map(|_| busy_loop(mindful, "busy\u{1b}loop")).collect();
        while !done.load(Ordering::SeqCst) {
            std::thread::sleep(Duration::from_millis(10));
        }
    };
    during(at_work, run)
}

/// Reads at the device that are not of the server's processes.
fn foreign_per_s(report: &Report) -> f64 {
    report.figure("device_reads_per_s") - report.figure("process_reads_per_s")
}

#[test]
fn scans_of_others_in_the_same_server_are_found() {
    let mindful = Mindful::beside_others(place());
    // A server with fewer buffers for its sessions does not read ahead.
    let server = UsersServer::start(&mindful, "shared_buffers=16MB,max_connections=20");
    let clean = server.run(&mindful, PAUSES);
    assert!(!clean.has("prefetched") && !clean.has("unasked-reads"), "{clean}");
    server.sql("CREATE TABLE theirs AS SELECT n, repeat('x', 900) FROM generate_series(1, 40000) AS n; CHECKPOINT");
    let scan = "SET max_parallel_workers_per_gather = 0; SELECT count(*) FROM theirs";
    let scanned = server.run_beside(&mindful, PAUSES, scan);
    scanned.assert_suspect("prefetched");
    scanned.assert_suspect("unasked-reads");
    assert!(!scanned.headline().contains("storage iops"), "{scanned}");
}

/// Both runs count all reads of the server; neither may claim those of the other.
#[test]
fn of_two_runs_on_one_cached_server_each_claims_its_own_reads() {
    let (mindful, server) = UsersServer::beside_others("shared_buffers=128MB");
    let paced = ("--warmup 1s", PAUSES);
    let alone = server.run(&mindful, paced);
    assert!(!alone.has("unasked-reads"), "{alone}");
    let shared = format!("--target {} --shared on --duration 10m --sessions 4", server.url());
    let other = Background(mindful.start(short_run((shared, PAUSES))));
    server.sql(&all_at_work(4, 1.0));
    let beside = server.run(&mindful, ("--shared on", &paced));
    drop(other);
    beside.assert_suspect_of("unasked-reads", "logical reads/s for");
    assert!(beside.headline().contains("blocks visited per second, from the database cache"), "{beside}");
}

#[test]
fn autovacuum_in_the_window_is_found() {
    let mindful = Mindful::beside_others(place());
    let vacuumed = |set: &str| {
        let server = UsersServer::start(&mindful, set);
        mindful.succeed(format!("load --target {} --schemas 2 --scale 16MiB", server.url()));
        server.sql(
            "ALTER TABLE mindful.blocks_1 RESET (autovacuum_enabled); ALTER TABLE mindful.blocks_1
             SET (autovacuum_vacuum_threshold = 1, autovacuum_vacuum_scale_factor = 0)",
        );
        server.run(&mindful, ("--update-pct 50 --work-unit 4 --duration 4s", PAUSES))
    };
    assert!(!vacuumed("autovacuum=off").has("autovacuum"));
    let found = vacuumed("autovacuum=on,autovacuum_naptime=1s");
    found.assert_suspect("autovacuum");
    assert!(found.has("pg-autovacuum"), "{found}");
}

/// Log writes of others are counted with the run's, so an updated block seems to log more than possible.
#[test]
fn log_that_others_write_is_seen_by_bytes_of_updated_blocks() {
    let (mindful, server) = UsersServer::beside_others("shared_buffers=64MB,max_wal_size=4GB");
    // Long enough that the log is read at the ends of the window on a busy host too, and with pauses, so that others
    // write more whatever the share of the CPUs.
    let updates = "--work-unit 16 --think-time 10ms..10ms --update-pct 100 --commit-wait off --duration 5s";
    let alone = server.run(&mindful, updates);
    assert!(!alone.has("log-band"), "{alone}");
    server.sql("CREATE TABLE theirs (text text)");
    let writes = "INSERT INTO theirs SELECT repeat(md5(n::text), 30) FROM generate_series(1, 20000) AS n";
    let beside = server.run_beside(&mindful, updates, writes);
    beside.assert_suspect_of("log-band", "expected");
}

/// No other test of this program may run at the same time.
mod alone {
    use super::*;

    /// Twice as many busy loops as there are CPUs: they leave no CPU idle and take a good part of all, whatever else
    /// runs.
    #[test]
    fn busy_loops_next_to_a_run_are_named_first() {
        let mindful = Mindful::at(place());
        let server = UsersServer::start(&mindful, "shared_buffers=64MB");
        let _quiet = Quiet::wait();
        let cached = || server.run(&mindful, "--duration 1200ms");
        // A virtual CPU that is taken away for half a second causes a stall, which rightly comes first.
        let alone = retried(cached, |alone| !alone.has("stall") && !alone.has("session-stall"));
        alone.assert_clean();
        let cpus = std::thread::available_parallelism().unwrap().get();
        let beside = retried(|| beside_loops(&mindful, &server, 2, 2 * cpus, cached), |beside| !beside.has("stall"));
        beside.assert_suspect_of("foreign-cpu", "busy\u{1b}loop (");
        assert!(!alone.has("foreign-cpu") || !alone.evidence("foreign-cpu").contains("busy"), "{alone}");
        assert_eq!(beside.codes()[0], "foreign-cpu", "{beside}");
        let first = beside.text.lines().next().unwrap();
        assert!(first.starts_with("SUSPECT  Other processes used the CPUs of this host"), "{beside}");
        assert!(beside.text.contains("limited by CPU that others used"), "{beside}");
        assert!(!beside.text.contains('\u{1b}') && !beside.text.contains("more or faster CPUs"), "{beside}");
    }

    #[test]
    fn another_reader_of_the_device_is_found() {
        let mindful = Mindful::at(place()).with_private();
        let _quiet = Quiet::wait();
        let alone = mindful.private_run("--set shared_buffers=1MB");
        let reader = reader(&mindful);
        let beside = mindful.private_run("--set shared_buffers=1MB");
        drop(reader);
        beside.assert_suspect("foreign-reads");
        assert!(!beside.headline().contains("storage iops"), "{beside}");
        // This host may have real neighbours, and some may be busier than this reader. The finding depends on their
        // share of bytes; their share of requests may be lower, because their requests may be larger.
        let percent = |run: &Report| figure(run.evidence("foreign-reads"), " % of the device's read bytes");
        assert!(!alone.has("foreign-reads") || percent(&alone) >= 5.0, "{alone}");
        assert!(percent(&beside) >= 5.0, "{beside}");
        let (few, many) = (foreign_per_s(&alone), foreign_per_s(&beside));
        assert!(few < many / 2.0 || alone.has("foreign-reads"), "{few} of {many}: {alone}\n{beside}");
    }
}
