//! Changes during a run on other engines than PostgreSQL, and the order in which a cache was filled.

use std::time::Duration;

use mindful_conformance::place;
use mysql::prelude::Queryable as _;

use crate::lies::layers::{self, Mounted};
use crate::mariadb::server::UsersMariaDb;
use crate::mindful::report::{Report, next_to};
use crate::mindful::users_server::UsersServer;
use crate::mindful::{Mindful, PAUSES, Words, assert_has, short_run, wait_until, whole};

const WINDOW: &str = "--warmup 1s --duration 5s";

/// A run during which `change` happens, some time after its start.
fn changed(mindful: &Mindful, args: impl Words, change: impl FnOnce() + Send) -> Report {
    let before = mindful.count_runs();
    let later = || {
        wait_until("no run began", || mindful.count_runs() > before);
        std::thread::sleep(Duration::from_millis(4_500));
        change();
    };
    next_to(later, || mindful.short_run((WINDOW, PAUSES, args)))
}

#[test]
fn changes_in_a_mariadb_during_a_run_are_reported() {
    let (mindful, server) = UsersMariaDb::beside_others(&[("cache", "64MiB")]);
    let on = format!("--target {}", server.url());
    let sql = |text: &'static str| {
        let mut connection = server.connect();
        move || connection.query_drop(text).unwrap()
    };
    let wait = changed(&mindful, (&on, "--update-pct 100"), sql("SET GLOBAL innodb_flush_log_at_trx_commit = 0"));
    wait.assert_suspect_of("setting-changed", "innodb_flush_log_at_trx_commit: 1 became 0");
    sql("SET GLOBAL innodb_flush_log_at_trx_commit = 1")();
    let quiet = changed(&mindful, &on, || ());
    for code in ["setting-changed", "counters-reset", "layout-changed"] {
        assert!(!quiet.has(code), "{quiet}");
    }
    changed(&mindful, &on, sql("FLUSH STATUS")).assert_suspect("counters-reset");
    let suppressed = "CREATE TRIGGER mindful.kept BEFORE UPDATE ON mindful.blocks_1 FOR EACH ROW SET NEW.k = OLD.k";
    changed(&mindful, &on, sql(suppressed)).assert_suspect("layout-changed");
    sql("DROP TRIGGER mindful.kept")();
    changed(&mindful, &on, sql("UPDATE mindful.blocks_1 SET k = k + 100000 WHERE k % 2 = 0"))
        .assert_suspect("layout-changed");
    // The check before the next run finds it too.
    let refused = mindful.run(short_run(on));
    assert!(!refused.status.success(), "{refused:?}");
}

#[cfg(feature = "sqlite")]
#[test]
fn changes_in_a_sqlite_file_are_reported_or_refused() {
    let mindful = Mindful::beside_others(place());
    let file = mindful.path("data.db");
    let on = "--target sqlite:data.db";
    let sql = |text: &str| {
        let connection = rusqlite::Connection::open(&file).unwrap();
        connection.busy_timeout(Duration::from_secs(10)).unwrap();
        connection.execute_batch(text).unwrap();
    };
    let quiet = changed(&mindful, on, || ());
    assert!(!quiet.has("layout-changed") && !quiet.has("setting-changed"), "{quiet}");
    let run = changed(&mindful, on, || sql("DELETE FROM blocks_1 WHERE k % 2 = 0"));
    // A session that finds too few rows ends the step.
    assert!(run.has("layout-changed") && run.validity() != "valid", "{run}");
    let refused = mindful.run(short_run(on));
    assert!(!refused.status.success(), "{refused:?}");
}

/// The kernel answers reads of what was punched out without storage.
#[test]
fn holes_that_are_punched_in_a_run_end_its_window() {
    let mindful = Mindful::beside_others(place());
    let file = mindful.path("file");
    let run = changed(&mindful, "--target raw:file", || {
        let file = std::fs::OpenOptions::new().write(true).open(&file).unwrap();
        let flags = rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
        rustix::fs::fallocate(file, flags, 1 << 20, 1 << 24).unwrap();
    });
    run.assert_suspect("layout-changed");
    assert!(!run.has("page-cache"), "{run}");
}

/// Only root may make a loop device.
#[test]
fn a_queue_or_mount_that_is_changed_in_a_run_is_reported() {
    let mindful = Mindful::beside_others(place());
    let Some(mounted) = Mounted::on_loop(&mindful, "queue", true) else { return };
    let file = format!("/sys/block/{}/queue/read_ahead_kb", mounted.name());
    let run = changed(&mindful, "--target sqlite:queue/data.db", || std::fs::write(file, "64").unwrap());
    run.assert_suspect_of("setting-changed", "read_ahead_kb");
    let remounted = || drop(layers::run("mount", format!("-o remount,sync {}", mounted.folder.display())).unwrap());
    let run = changed(&mindful, "--target sqlite:queue/data.db", remounted);
    run.assert_suspect_of("setting-changed", "mount_options");
}

/// The order in which the cache was filled, as a run reports it.
fn order(run: &Report) -> &str {
    run.run["target_settings"]["cache_order"].as_str().unwrap_or_else(|| panic!("no order: {run}"))
}

/// Index pages may still be read occasionally.
fn assert_cached(run: &Report) {
    assert!(run.figure("physical_reads_per_s") < 0.02 * run.figure("blocks_visited_per_s"), "{run}");
}

#[test]
fn a_cache_is_filled_by_block_after_a_load_as_after_a_restart() {
    let mindful = Mindful::beside_others(place()).with_private();
    let cached = ("--set shared_buffers=64MB", PAUSES);
    let restarted = mindful.private_run(cached);
    let more = mindful.private_run((&cached, "--schemas 3"));
    for run in [&restarted, &more] {
        assert_eq!(order(run), "by block", "{run}");
        assert!(!run.has("cache-order"), "{run}");
        assert_cached(run);
    }
    let small = mindful.private_run(("--set shared_buffers=1MB", PAUSES));
    assert!(small.run["target_settings"]["cache_order"].is_null(), "{small}");
}

#[test]
fn a_cache_that_others_filled_is_another_setting() {
    let (mindful, server) = UsersServer::beside_others("shared_buffers=64MB");
    server.sql("SET enable_seqscan = off; SELECT count(f1) FROM mindful.blocks_1 WHERE k > 0");
    let unknown = server.run(&mindful, PAUSES);
    assert!(order(&unknown) == "unknown" && unknown.has("cache-order"), "{unknown}");
    drop(server);
    let server = UsersServer::start(&mindful, "shared_buffers=64MB");
    let (first, second) = (server.run(&mindful, PAUSES), server.run(&mindful, PAUSES));
    assert_eq!((order(&first), order(&second)), ("by block", "by block"), "{second}");
    let compared = mindful.run(["compare", unknown.id(), first.id()]);
    assert_has(whole(&compared), "order of the cache");
}

#[cfg(feature = "sqlite")]
#[test]
fn each_session_of_sqlite_fills_its_own_cache() {
    let mindful = Mindful::beside_others(place());
    let run = mindful.short_run(("--target sqlite:data.db --cache 64MiB", PAUSES));
    assert_eq!(order(&run), "by block", "{run}");
    assert_cached(&run);
}

#[test]
fn the_buffer_pool_of_a_mariadb_is_filled_by_page() {
    let mindful = Mindful::beside_others(place()).with_private_mariadb();
    let run = mindful.private_run(("--target mariadb: --cache 64MiB", PAUSES));
    assert_eq!(order(&run), "by block", "{run}");
    assert_cached(&run);
}
