//! The lies with an outcome that depends on the engine, on InnoDB.

use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::{Command, Stdio};
use std::time::Duration;

use mindful_conformance::place;
use mysql::prelude::Queryable as _;

use crate::lies::levels::forget;
use crate::lies::neighbours::busy_loop;
use crate::mariadb::server::UsersMariaDb;
use crate::mindful::processes::Background;
use crate::mindful::report::{Report, retried, while_repeated};
use crate::mindful::small_disk::folder_in_memory;
use crate::mindful::{Mindful, PAUSES, Words, private, short_run};
use crate::stops::standstill::Stopped;

/// A buffer pool for a quarter of the data.
const SMALL: &str = "--target mariadb: --cache 8MiB";

/// A short run, with `then` called once its sessions are ready: on a busy machine the first ones work long before the
/// window begins.
fn once_ready(mindful: &Mindful, args: impl Words, sessions: u32, then: impl FnOnce()) -> Report {
    let mut run = mindful.start_piped(short_run(args));
    let mut lines = BufReader::new(run.stderr.take().unwrap()).lines().map_while(Result::ok);
    let all = format!("{sessions} of {sessions} sessions ready");
    assert!(lines.any(|line| line.contains(&all)), "it ended before its sessions were ready");
    then();
    lines.for_each(drop);
    mindful.report(&run.wait_with_output().unwrap())
}

#[test]
fn the_page_cache_before_a_mariadb_is_reported() {
    let mindful = Mindful::beside_others(place()).with_private_mariadb();
    let folder = mindful.private_folder();
    let clean = mindful.private_run((SMALL, PAUSES));
    for code in ["page-cache", "page-cache-ahead", "data-in-memory"] {
        assert!(!clean.has(code), "{clean}");
    }
    let buffered = || mindful.private_run((SMALL, "--set innodb_flush_method=fsync", PAUSES));
    buffered();
    // On a busy host that run reads little, and the kernel drops cached pages.
    let warm = || {
        let mut reading = Command::new("find");
        reading.arg(&folder).args(["-name", "*.ibd", "-exec", "cat", "{}", "+"]).stdout(Stdio::null());
        assert!(reading.status().unwrap().success());
        buffered()
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
    let mindful = Mindful::beside_others(place()).with_private_mariadb();
    let set = "--target mariadb: --set innodb_flush_log_at_trx_commit=2";
    let run = mindful.private_run((set, "--update-pct 100 --work-unit 1", PAUSES));
    assert!(run.headline().contains("not durable") && run.has("commits-do-not-wait"), "{run}");
}

#[test]
fn a_mariadb_in_tmpfs_is_read_from_memory_alone() {
    let mindful = Mindful::beside_others(place());
    let memory = folder_in_memory();
    let data = memory.path().join("private");
    private::mariadb_to(&data);
    // Long enough for some reads on a busy host too.
    let report = mindful.short_run((SMALL, format!("--data-dir {} --duration 6s", data.display()), PAUSES));
    report.assert_suspect("data-in-memory");
    assert_eq!(report.evidence("page-cache"), "all of physical reads", "{report}");
    assert!(report.headline().contains("all from the page cache"), "{report}");
}

#[test]
fn a_mariadb_that_stood_still_is_reported_first() {
    let (mindful, server) = UsersMariaDb::beside_others(&[("cache", "8MiB")]);
    let url = server.url();
    // Operations of one block: on a full host those of many take a good part of a second, and ten times that is no stall.
    let stopped = once_ready(&mindful, format!("--target {url} --duration 7s --work-unit 1"), 2, || {
        std::thread::sleep(Duration::from_millis(2_500));
        let _stopped = Stopped::of([server.pid()]);
        std::thread::sleep(Duration::from_secs(2));
    });
    stopped.assert_suspect("stall");
    assert_eq!(stopped.codes()[0], "stall", "{stopped}");
    let evidence = stopped.evidence("stall");
    assert!(evidence.contains("at once") && evidence.contains("of the window"), "{stopped}");
    assert!(stopped.text.contains("limited by a stall"), "{stopped}");
}

#[test]
fn latches_of_a_mariadb_on_a_full_host_wait_for_cpu() {
    let mindful = Mindful::beside_others(place()).with_private_mariadb();
    let cpus = std::thread::available_parallelism().unwrap().get();
    let data = mindful.private_folder().display().to_string();
    let many = format!("--target mariadb: --data-dir {data} --cache 64MiB --sessions 64 --duration 1s");
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
    let (mindful, server) = UsersMariaDb::beside_others(&[("cache", "64MiB")]);
    let mut holder = server.connect();
    let holding = || {
        holder.query_drop("START TRANSACTION").unwrap();
        holder.query_drop("SELECT COUNT(mark) FROM mindful.blocks_1 WHERE k <= 128 FOR UPDATE").unwrap();
        // Longer than it takes to get them all, on a full host too.
        std::thread::sleep(Duration::from_millis(600));
        holder.query_drop("COMMIT").unwrap();
    };
    let few = "--update-pct 100 --scale 128 --sessions 8 --schemas 1 --duration 4s";
    // On a full host sampling may take only two samples in a window.
    let run = || retried(|| server.run(&mindful, few), |report| report.has("contention"));
    while_repeated(holding, run).assert_suspect("contention");
}

#[test]
fn scans_of_others_in_a_mariadb_are_found() {
    let (mindful, server) = UsersMariaDb::beside_others(&[("cache", "16MiB")]);
    let clean = server.run(&mindful, PAUSES);
    assert!(!clean.has("unasked-reads") && !clean.has("prefetched"), "{clean}");
    server.sql("CREATE DATABASE others");
    server.sql("CREATE TABLE others.theirs AS SELECT seq, REPEAT('x', 900) AS text FROM mindful.seq_1_to_40000");
    let scans = || {
        server.count("SELECT COUNT(text) FROM others.theirs WHERE text <> 'y'");
    };
    let scanned = while_repeated(scans, || server.run(&mindful, PAUSES));
    scanned.assert_suspect("unasked-reads");
    assert!(!scanned.headline().contains("storage iops"), "{scanned}");
}

#[test]
fn another_session_that_computes_in_a_mariadb_is_found() {
    let (mindful, server) = UsersMariaDb::beside_others(&[("cache", "64MiB")]);
    let alone = server.run(&mindful, PAUSES);
    assert!(!alone.has("others-active"), "{alone}");
    let computes = || {
        server.count("SELECT COUNT(*) FROM mindful.seq_1_to_300000 WHERE SHA2(seq, 512) LIKE 'ab%'");
    };
    let beside = while_repeated(computes, || server.run(&mindful, PAUSES));
    beside.assert_suspect_of("others-active", "sessions of others");
}

/// InnoDB does not count these reads, so the totals look as if they were the run's.
#[test]
fn a_thread_that_reads_storage_is_not_taken_for_the_runs() {
    let (mindful, server) = UsersMariaDb::beside_others(&[("cache", "8MiB"), ("set", "innodb_flush_method=fsync")]);
    let theirs = mindful.path("theirs");
    std::fs::write(&theirs, vec![7; 12 << 20]).unwrap();
    std::fs::set_permissions(&theirs, PermissionsExt::from_mode(0o644)).unwrap();
    let read = || {
        forget(&theirs);
        assert_eq!(server.count(&format!("SELECT LENGTH(LOAD_FILE('{}'))", theirs.display())), 12 << 20);
    };
    let warm = server.run(&mindful, PAUSES);
    assert!(!warm.has("others-active") && !warm.shows("not-seen", "process"), "{warm}");
    let beside = while_repeated(read, || server.run(&mindful, PAUSES));
    beside.assert_suspect_of("others-active", "those of this run");
    assert!(!beside.headline().contains("storage iops"), "{beside}");
}

#[test]
fn a_binary_log_in_memory_is_not_durable() {
    let mindful = Mindful::beside_others(place()).with_private_mariadb();
    let updates = "--target mariadb: --update-pct 100 --work-unit 1 --set log_bin=logs/binlog";
    let (memory, logs) = (folder_in_memory(), mindful.private_folder().join("data/logs"));
    std::fs::create_dir(&logs).unwrap();
    for folder in [memory.path(), &logs] {
        std::fs::set_permissions(folder, PermissionsExt::from_mode(0o777)).unwrap();
    }
    let honest = mindful.private_run(updates);
    assert!(!honest.has("not-durable"), "{honest}");
    std::fs::remove_dir_all(&logs).unwrap();
    symlink(memory.path(), &logs).unwrap();
    let lost = mindful.private_run(updates);
    lost.assert_suspect("not-durable");
    assert!(lost.evidence("not-durable").starts_with("tmpfs at /dev/shm"), "{lost}");
}

/// Both runs count all reads of the server; neither may claim those of the other.
#[test]
fn of_two_runs_on_one_mariadb_each_claims_its_own_reads() {
    let (mindful, server) = UsersMariaDb::beside_others(&[("cache", "128MiB")]);
    let paced = ("--warmup 1s", PAUSES);
    let alone = server.run(&mindful, paced);
    assert!(!alone.has("unasked-reads"), "{alone}");
    let shared = format!("--target {} --shared on --duration 10m --sessions 4", server.url());
    let other = Background(mindful.start(short_run((shared, PAUSES))));
    while server.count("SELECT COUNT(*) FROM information_schema.PROCESSLIST WHERE info LIKE '%JSON_TABLE%'") < 3 {
        std::thread::sleep(Duration::from_millis(50));
    }
    let beside = server.run(&mindful, ("--shared on", &paced));
    drop(other);
    beside.assert_suspect_of("unasked-reads", "logical reads/s for");
    assert!(beside.headline().contains("blocks visited per second, from the database cache"), "{beside}");
}
