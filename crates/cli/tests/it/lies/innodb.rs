//! The lies with an outcome that depends on the engine, on InnoDB.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::Duration;

use mysql::prelude::Queryable as _;
use rustix::process::{Pid, Signal, kill_process};

use crate::lies::neighbours::{Background, busy_loop};
use crate::mariadb::server::UsersMariaDb;
use crate::mindful::report::{Report, retried, while_repeated};
use crate::mindful::{Mindful, PAUSES, private, short_run};
use mindful_conformance::place;

/// A buffer pool for a quarter of the data.
const SMALL: [&str; 2] = ["--cache", "8MiB"];

/// A short run on a private MariaDB in `folder`, which gets the dataset if it has none.
fn private_mariadb(mindful: &Mindful, folder: &std::path::Path, args: &[&str]) -> Report {
    if !folder.exists() {
        private::mariadb_to(folder);
    }
    let data = folder.display().to_string();
    mindful.report(&mindful.short_run(&[&["--target", "mariadb:", "--data-dir", &data], args].concat()))
}

/// A server of the user's own with a buffer pool of `cache`, and the dataset of a short run in it.
fn users(mindful: &Mindful, cache: &str) -> UsersMariaDb {
    let folder = mindful.path("users");
    private::mariadb_to(&folder);
    UsersMariaDb::start(&folder, &[("cache", cache)])
}

fn on(mindful: &Mindful, server: &UsersMariaDb, args: &[&str]) -> Report {
    mindful.report(&mindful.short_run(&[&["--target", &server.url()], args].concat()))
}

/// A short run, with `then` called once its sessions are ready: on a busy machine the first ones work long before the
/// window begins.
fn once_ready(mindful: &Mindful, args: &[&str], sessions: u32, then: impl FnOnce()) -> Report {
    let mut run = mindful.command(&short_run(args));
    let mut run = run.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(run.stderr.take().unwrap()).lines().map_while(Result::ok);
    let all = format!("{sessions} of {sessions} sessions ready");
    assert!(lines.any(|line| line.contains(&all)), "it ended before its sessions were ready");
    then();
    lines.for_each(drop);
    mindful.report(&run.wait_with_output().unwrap())
}

#[test]
fn the_page_cache_before_a_mariadb_is_reported() {
    let mindful = Mindful::beside_others(place());
    let folder = mindful.path("private");
    let paced = [&SMALL[..], &PAUSES].concat();
    let clean = private_mariadb(&mindful, &folder, &paced);
    for code in ["page-cache", "page-cache-ahead", "data-in-memory"] {
        assert!(!clean.has(code), "{clean}");
    }
    let buffered = ["--set", "innodb_flush_method=fsync"];
    private_mariadb(&mindful, &folder, &[&paced[..], &buffered].concat());
    // On a busy host that run reads little, and the kernel drops cached pages.
    let warm = || {
        let mut reading = Command::new("find");
        reading.arg(&folder).args(["-name", "*.ibd", "-exec", "cat", "{}", "+"]).stdout(Stdio::null());
        assert!(reading.status().unwrap().success());
        private_mariadb(&mindful, &folder, &[&paced[..], &buffered].concat())
    };
    let warm = retried(warm, |warm| warm.figure("page_cache_share") > 0.5);
    assert!(warm.figure("page_cache_share") > 0.5, "{warm}");
    warm.assert_suspect("page-cache");
    assert!(warm.has("page-cache-ahead"), "{warm}");
    assert!(warm.headline().contains("page cache") && !warm.headline().contains("storage iops"), "{warm}");
}

/// A user of a private server may choose how it commits; a run reports it.
#[test]
fn a_private_mariadb_commits_as_its_user_sets() {
    let mindful = Mindful::beside_others(place());
    let folder = mindful.path("private");
    let updates = ["--update-pct", "100", "--work-unit", "1", PAUSES[0], PAUSES[1]];
    let set = ["--set", "innodb_flush_log_at_trx_commit=2"];
    let run = private_mariadb(&mindful, &folder, &[&updates[..], &set].concat());
    assert!(run.headline().contains("not durable") && run.has("commits-do-not-wait"), "{run}");
}

#[test]
fn a_mariadb_in_tmpfs_is_read_from_memory_alone() {
    let mindful = Mindful::beside_others(place());
    let folder = tempfile::Builder::new().prefix("mindful-lies-").tempdir_in("/dev/shm").unwrap();
    std::fs::set_permissions(folder.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    // Long enough for some reads on a busy host too.
    let long = [&SMALL[..], &PAUSES, &["--duration", "6s"]].concat();
    let report = private_mariadb(&mindful, &folder.path().join("private"), &long);
    report.assert_suspect("data-in-memory");
    assert_eq!(report.evidence("page-cache"), "all of physical reads", "{report}");
    assert!(report.headline().contains("all from the page cache"), "{report}");
}

#[test]
fn a_mariadb_that_stood_still_is_reported_first() {
    let mindful = Mindful::beside_others(place());
    let server = users(&mindful, "8MiB");
    let pid = Pid::from_raw(server.pid() as i32).unwrap();
    let url = server.url();
    // Operations of one block: on a full host those of many take a good part of a second, and ten times that is no stall.
    let stopped = once_ready(&mindful, &["--target", &url, "--duration", "7s", "--work-unit", "1"], 2, || {
        std::thread::sleep(Duration::from_millis(2_500));
        kill_process(pid, Signal::STOP).unwrap();
        std::thread::sleep(Duration::from_secs(2));
        kill_process(pid, Signal::CONT).unwrap();
    });
    stopped.assert_suspect("stall");
    assert_eq!(stopped.codes()[0], "stall", "{stopped}");
    let evidence = stopped.evidence("stall");
    assert!(evidence.contains("at once") && evidence.contains("of the window"), "{stopped}");
    assert!(stopped.text.contains("limited by a stall"), "{stopped}");
}

#[test]
fn latches_of_a_mariadb_on_a_full_host_wait_for_cpu() {
    let mindful = Mindful::beside_others(place());
    let folder = mindful.path("private");
    private::mariadb_to(&folder);
    let cpus = std::thread::available_parallelism().unwrap().get();
    let data = folder.display().to_string();
    let many =
        ["--target", "mariadb:", "--data-dir", &data, "--cache", "64MiB", "--sessions", "64", "--duration", "1s"];
    let mut loops = Vec::new();
    let full = once_ready(&mindful, &many, 64, || loops.extend((0..cpus).map(|_| busy_loop(&mindful, "busy"))));
    drop(loops);
    assert!(full.has("foreign-cpu") && full.has("host-saturated"), "{full}");
    assert!(!full.own_warnings().contains(&"contention"), "{full}");
    if full.has("contention") {
        assert!(full.evidence("contention").contains("latches"), "{full}");
    }
}

/// The kernel shows them asleep like waiters for latches, but the server counts them. Another session holds the rows
/// for a moment repeatedly, because the run's own sessions on a full host rarely conflict.
#[test]
fn sessions_that_update_one_row_of_a_mariadb_are_reported() {
    let mindful = Mindful::beside_others(place());
    let server = users(&mindful, "64MiB");
    let mut holder = server.connect();
    let holding = || {
        holder.query_drop("START TRANSACTION").unwrap();
        holder.query_drop("SELECT COUNT(mark) FROM mindful.blocks_1 WHERE k <= 128 FOR UPDATE").unwrap();
        // Longer than it takes to get them all, on a full host too.
        std::thread::sleep(Duration::from_millis(600));
        holder.query_drop("COMMIT").unwrap();
    };
    let few = ["--update-pct", "100", "--scale", "128", "--sessions", "8", "--schemas", "1", "--duration", "4s"];
    // On a full host sampling may take only two samples in a window.
    let run = || retried(|| on(&mindful, &server, &few), |report| report.has("contention"));
    let updated = while_repeated(holding, run);
    updated.assert_suspect("contention");
}

#[test]
fn scans_of_others_in_a_mariadb_are_found() {
    let mindful = Mindful::beside_others(place());
    let server = users(&mindful, "16MiB");
    let clean = on(&mindful, &server, &PAUSES);
    assert!(!clean.has("unasked-reads") && !clean.has("prefetched"), "{clean}");
    server.sql("CREATE DATABASE others");
    server.sql("CREATE TABLE others.theirs AS SELECT seq, REPEAT('x', 900) AS text FROM mindful.seq_1_to_40000");
    let scans = || {
        server.count("SELECT COUNT(text) FROM others.theirs WHERE text <> 'y'");
    };
    let scanned = while_repeated(scans, || on(&mindful, &server, &PAUSES));
    scanned.assert_suspect("unasked-reads");
    assert!(!scanned.headline().contains("storage iops"), "{scanned}");
}

#[test]
fn another_session_that_computes_in_a_mariadb_is_found() {
    let mindful = Mindful::beside_others(place());
    let server = users(&mindful, "64MiB");
    let alone = on(&mindful, &server, &PAUSES);
    assert!(!alone.has("others-active"), "{alone}");
    let computes = || {
        server.count("SELECT COUNT(*) FROM mindful.seq_1_to_300000 WHERE SHA2(seq, 512) LIKE 'ab%'");
    };
    let beside = while_repeated(computes, || on(&mindful, &server, &PAUSES));
    beside.assert_suspect("others-active");
    assert!(beside.evidence("others-active").contains("sessions of others"), "{beside}");
}

/// InnoDB does not count these reads, so the totals look as if they were the run's.
#[test]
fn a_thread_that_reads_storage_is_not_taken_for_the_runs() {
    let mindful = Mindful::beside_others(place());
    let folder = mindful.path("users");
    private::mariadb_to(&folder);
    let server = UsersMariaDb::start(&folder, &[("cache", "8MiB"), ("set", "innodb_flush_method=fsync")]);
    let theirs = mindful.path("theirs");
    std::fs::write(&theirs, vec![7; 12 << 20]).unwrap();
    std::fs::set_permissions(&theirs, std::os::unix::fs::PermissionsExt::from_mode(0o644)).unwrap();
    let read = || {
        // Takes the file out of the page cache.
        let mut forget = Command::new("dd");
        forget.arg(format!("of={}", theirs.display())).args(["oflag=nocache", "conv=notrunc,fdatasync", "count=0"]);
        assert!(forget.stderr(Stdio::null()).status().unwrap().success());
        assert_eq!(server.count(&format!("SELECT LENGTH(LOAD_FILE('{}'))", theirs.display())), 12 << 20);
    };
    let warm = on(&mindful, &server, &PAUSES);
    assert!(!warm.has("others-active") && !warm.shows("not-seen", "process"), "{warm}");
    let beside = while_repeated(read, || on(&mindful, &server, &PAUSES));
    beside.assert_suspect("others-active");
    assert!(beside.evidence("others-active").contains("those of this run"), "{beside}");
    assert!(!beside.headline().contains("storage iops"), "{beside}");
}

#[test]
fn a_binary_log_in_memory_is_not_durable() {
    let mindful = Mindful::beside_others(place());
    let folder = mindful.path("private");
    let updates = ["--update-pct", "100", "--work-unit", "1", "--set", "log_bin=logs/binlog"];
    let memory = tempfile::Builder::new().prefix("mindful-lies-").tempdir_in("/dev/shm").unwrap();
    std::fs::set_permissions(memory.path(), std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    private::mariadb_to(&folder);
    let logs = folder.join("data/logs");
    std::fs::create_dir(&logs).unwrap();
    std::fs::set_permissions(&logs, std::os::unix::fs::PermissionsExt::from_mode(0o777)).unwrap();
    let honest = private_mariadb(&mindful, &folder, &updates);
    assert!(!honest.has("not-durable"), "{honest}");
    std::fs::remove_dir_all(&logs).unwrap();
    std::os::unix::fs::symlink(memory.path(), &logs).unwrap();
    let lost = private_mariadb(&mindful, &folder, &updates);
    lost.assert_suspect("not-durable");
    assert!(lost.evidence("not-durable").starts_with("tmpfs at /dev/shm"), "{lost}");
}

/// Both runs count all reads of the server; neither may claim those of the other.
#[test]
fn of_two_runs_on_one_mariadb_each_claims_its_own_reads() {
    let mindful = Mindful::beside_others(place());
    let server = users(&mindful, "128MiB");
    let paced = [&["--warmup", "1s"][..], &PAUSES].concat();
    let alone = on(&mindful, &server, &paced);
    assert!(!alone.has("unasked-reads"), "{alone}");
    let url = server.url();
    let long = ["--target", &url, "--shared", "on", "--duration", "10m", "--sessions", "4"];
    let mut other = mindful.command(&short_run(&[&long[..], &PAUSES].concat()));
    let other = Background::of(other.stdout(Stdio::null()).stderr(Stdio::null()));
    while server.count("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE info LIKE '%JSON_TABLE%'") < 3 {
        std::thread::sleep(Duration::from_millis(50));
    }
    let beside = on(&mindful, &server, &[&["--shared", "on"][..], &paced].concat());
    drop(other);
    beside.assert_suspect("unasked-reads");
    assert!(beside.evidence("unasked-reads").contains("logical reads/s for"), "{beside}");
    assert!(beside.headline().contains("blocks visited per second, from the database cache"), "{beside}");
}
