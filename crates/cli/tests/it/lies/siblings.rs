//! Changes during a run on other engines than PostgreSQL, and the order in which a cache was filled.

use std::time::Duration;

use mysql::prelude::Queryable as _;

use crate::lies::layers::Mounted;
use crate::mariadb::server::UsersMariaDb;
use crate::mindful::report::Report;
use crate::mindful::users_server::UsersServer;
use crate::mindful::{Mindful, PAUSES, private};
use mindful_conformance::place;

const WINDOW: [&str; 4] = ["--warmup", "1s", "--duration", "5s"];

/// A run during which `change` happens, some time after its start.
fn changed(mindful: &Mindful, args: &[&str], change: impl FnOnce() + Send) -> Report {
    std::thread::scope(|scope| {
        let run = mindful.runs();
        let before = run.read_dir().map_or(0, Iterator::count);
        scope.spawn(move || {
            crate::mindful::wait_until("no run began", || run.read_dir().map_or(0, Iterator::count) > before);
            std::thread::sleep(Duration::from_millis(4_500));
            change();
        });
        mindful.report(&mindful.short_run(&[&WINDOW[..], &PAUSES, args].concat()))
    })
}

#[test]
fn changes_in_a_mariadb_during_a_run_are_reported() {
    let mindful = Mindful::beside_others(place());
    let folder = mindful.path("users");
    private::mariadb_to(&folder);
    let server = UsersMariaDb::start(&folder, &[("cache", "64MiB")]);
    let url = server.url();
    let on = ["--target", &url];
    let sql = |text: &'static str| {
        let mut connection = server.connect();
        move || connection.query_drop(text).unwrap()
    };
    let updates = [&on[..], &["--update-pct", "100"]].concat();
    let wait = changed(&mindful, &updates, sql("SET GLOBAL innodb_flush_log_at_trx_commit = 0"));
    wait.assert_suspect("setting-changed");
    assert!(wait.shows("setting-changed", "innodb_flush_log_at_trx_commit: 1 became 0"), "{wait}");
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
    let refused = mindful.short_run(&on);
    assert!(!refused.status.success(), "{refused:?}");
}

#[cfg(feature = "sqlite")]
#[test]
fn changes_in_a_sqlite_file_are_reported_or_refused() {
    let mindful = Mindful::beside_others(place());
    let file = mindful.path("data.db");
    let target = format!("sqlite:{}", file.display());
    let on = ["--target", &target];
    let sql = |text: &str| {
        let connection = rusqlite::Connection::open(&file).unwrap();
        connection.busy_timeout(Duration::from_secs(10)).unwrap();
        connection.execute_batch(text).unwrap();
    };
    let quiet = changed(&mindful, &on, || ());
    assert!(!quiet.has("layout-changed") && !quiet.has("setting-changed"), "{quiet}");
    let run = changed(&mindful, &on, || sql("DELETE FROM blocks_1 WHERE k % 2 = 0"));
    // A session that finds too few rows ends the step.
    assert!(run.has("layout-changed") && run.validity() != "valid", "{run}");
    let refused = mindful.short_run(&on);
    assert!(!refused.status.success(), "{refused:?}");
}

/// The kernel answers reads of what was punched out without storage.
#[test]
fn holes_that_are_punched_in_a_run_end_its_window() {
    let mindful = Mindful::beside_others(place());
    let file = mindful.path("file");
    let target = format!("raw:{}", file.display());
    let run = changed(&mindful, &["--target", &target], || {
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
    let Ok(mounted) = Mounted::on_loop(&mindful, "queue", true) else {
        return mindful_conformance::not_run("it makes a loop device, which takes root");
    };
    let device = mounted.name().to_owned();
    let target = format!("sqlite:{}", mindful.path("queue/data.db").display());
    let file = format!("/sys/block/{device}/queue/read_ahead_kb");
    let run = changed(&mindful, &["--target", &target], || std::fs::write(file, "64").unwrap());
    run.assert_suspect("setting-changed");
    assert!(run.shows("setting-changed", "read_ahead_kb"), "{run}");
    let folder = mindful.path("queue").display().to_string();
    let run = changed(&mindful, &["--target", &target], || {
        let remounted = std::process::Command::new("mount").args(["-o", "remount,sync", &folder]).status().unwrap();
        assert!(remounted.success());
    });
    run.assert_suspect("setting-changed");
    assert!(run.shows("setting-changed", "mount_options"), "{run}");
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
    let cached = ["--set", "shared_buffers=64MB", PAUSES[0], PAUSES[1]];
    let restarted = mindful.private_run(&cached);
    let more = mindful.private_run(&[&cached[..], &["--schemas", "3"]].concat());
    for run in [&restarted, &more] {
        assert_eq!(order(run), "by block", "{run}");
        assert!(!run.has("cache-order"), "{run}");
        assert_cached(run);
    }
    let small = mindful.private_run(&["--set", "shared_buffers=1MB", PAUSES[0], PAUSES[1]]);
    assert!(small.run["target_settings"]["cache_order"].is_null(), "{small}");
}

#[test]
fn a_cache_that_others_filled_is_another_setting() {
    let (mindful, server) = UsersServer::beside_others("shared_buffers=64MB");
    server.sql("SET enable_seqscan = off; SELECT count(f1) FROM mindful.blocks_1 WHERE k > 0");
    let unknown = server.run(&mindful, &PAUSES);
    assert!(order(&unknown) == "unknown" && unknown.has("cache-order"), "{unknown}");
    drop(server);
    let server = UsersServer::start(&mindful, "shared_buffers=64MB");
    let (first, second) = (server.run(&mindful, &PAUSES), server.run(&mindful, &PAUSES));
    assert_eq!((order(&first), order(&second)), ("by block", "by block"), "{second}");
    let id = |run: &Report| run.run["id"].as_str().unwrap().to_owned();
    let compared = mindful.run(&["compare", &id(&unknown), &id(&first)]);
    let text = String::from_utf8([compared.stdout, compared.stderr].concat()).unwrap();
    assert!(text.contains("order of the cache"), "{text}");
}

#[cfg(feature = "sqlite")]
#[test]
fn each_session_of_sqlite_fills_its_own_cache() {
    let mindful = Mindful::beside_others(place());
    let target = format!("sqlite:{}", mindful.path("data.db").display());
    let run = mindful.report(&mindful.short_run(&[&["--target", &target, "--cache", "64MiB"][..], &PAUSES].concat()));
    assert_eq!(order(&run), "by block", "{run}");
    assert_cached(&run);
}

#[test]
fn the_buffer_pool_of_a_mariadb_is_filled_by_page() {
    let mindful = Mindful::beside_others(place());
    let folder = mindful.path("private");
    private::mariadb_to(&folder);
    let data = folder.display().to_string();
    let on = ["--target", "mariadb:", "--data-dir", &data, "--cache", "64MiB"];
    let run = mindful.report(&mindful.short_run(&[&on[..], &PAUSES].concat()));
    assert_eq!(order(&run), "by block", "{run}");
    assert_cached(&run);
}
