//! Work that is mistaken for other work: waits for each other, forced checkpoints, other plans.

use mindful_conformance::place;
use serde_json::Value;

use crate::mindful::report::Report;
use crate::mindful::users_server::UsersServer;
use crate::mindful::{Mindful, PAUSES, message, null, printed, short_run};

/// Another session holds the rows of its schema for two thirds of the time.
#[test]
fn one_session_that_is_held_up_is_reported_with_its_wait() {
    let (mindful, server) = UsersServer::beside_others("shared_buffers=64MB");
    let work = "--schemas 8 --sessions 8 --scale 1MiB --work-unit 1 --duration 5s --think-time 5ms..5ms";
    let args = (work, "--update-pct 100 --commit-wait off");
    let alone = server.run(&mindful, args);
    assert!(!alone.warns("unfair"), "{alone}");
    let locks = "DO $$ BEGIN PERFORM FROM mindful.blocks_3 FOR UPDATE; PERFORM pg_sleep(0.2); COMMIT; \
                PERFORM pg_sleep(0.06); END $$";
    let held = server.run_beside(&mindful, args, locks);
    held.assert_suspect("unfair");
    for part in ["in session 3, the slowest", "it was at locks and latches"] {
        assert!(held.shows("unfair", part), "{held}");
    }
}

#[test]
fn sessions_that_update_one_row_set_are_reported() {
    let mindful = Mindful::beside_others(place()).with_private();
    // Updates without a pause move rows, so each run has a dataset of its own.
    let updates = "--scale 128 --sessions 4 --update-pct 100 --commit-wait off";
    let apart = mindful.private_run((updates, "--namespace apart --schemas 4"));
    assert!(!apart.has("contention"), "{apart}");
    let one = mindful.private_run((updates, "--namespace together --schemas 1"));
    one.assert_suspect("contention");
}

#[test]
fn a_log_without_room_forces_checkpoints_and_they_are_reported() {
    let mindful = Mindful::beside_others(place()).with_private();
    // Pauses so short that a starved server fills its log, too.
    let updates = "--update-pct 100 --commit-wait off --duration 6s --think-time 4ms..4ms";
    let roomy = mindful.private_run(updates);
    assert!(!roomy.has("forced-checkpoints") && !roomy.shows("checkpoints-ahead", "MiB"), "{roomy}");
    let tight = mindful.private_run((updates, "--set max_wal_size=32MB,min_wal_size=32MB"));
    assert!(tight.shows("checkpoints-ahead", "MiB"), "{tight}");
    tight.assert_suspect("forced-checkpoints");
}

#[test]
fn fixed_work_that_ran_out_of_time_is_invalid() {
    let mindful = Mindful::at(place());
    let ops = |ops: &str| mindful.report(&mindful.run(null("run", format!("--format json --guard 1s --ops {ops}"))));
    assert!(!ops("200").has("incomplete"));
    let cut = ops("100000");
    assert_eq!((cut.validity(), cut.has("incomplete")), ("invalid", true), "{cut}");
}

/// Sessions ignore the server's defaults and read single blocks by the index; a server that cannot is refused.
#[test]
fn bitmaps_are_overruled_and_a_missing_index_is_refused() {
    let (mindful, server) = UsersServer::beside_others("shared_buffers=1MB,effective_io_concurrency=200");
    server.sql("ALTER ROLE mindful SET enable_indexscan = off; ALTER ROLE mindful SET enable_bitmapscan = on");
    let overruled = server.run(&mindful, PAUSES);
    assert!(!overruled.has("prefetched") && overruled.text.contains("Index Scan using"), "{overruled}");
    server.sql(
        "DROP INDEX mindful.blocks_1_k; CREATE INDEX blocks_1_k ON mindful.blocks_1 USING brin (k) WITH (pages_per_range = 1)",
    );
    let url = server.url();
    let refused = mindful.run(short_run(["--target", &url]));
    assert_eq!(refused.status.code(), Some(3), "{refused:?}");
    assert!(message(&refused).contains("not as a plain index scan"), "{refused:?}");
    let doctor = mindful.run(format!("doctor --target {url}"));
    assert!(printed(&doctor).contains("plan-shape"), "{doctor:?}");
}

/// A role's formats of dates and numbers do not affect a run.
#[test]
fn settings_of_the_role_change_no_figure() {
    let (mindful, server) = UsersServer::beside_others("shared_buffers=1MB");
    for setting in [
        "DateStyle = 'SQL, DMY'",
        "IntervalStyle = 'sql_standard'",
        "TimeZone = 'Asia/Kathmandu'",
        "extra_float_digits = -15",
        "bytea_output = 'escape'",
        "standard_conforming_strings = off",
        "default_transaction_isolation = 'serializable'",
        "jit = on",
    ] {
        server.sql(&format!("ALTER ROLE mindful SET {setting}"));
    }
    // On a busy host counters may be read too late to be those of the window: one unknown value is acceptable, but not
    // every one.
    let updates = ("--update-pct 20 --duration 5s", PAUSES);
    let mut runs = (0..3).map(|_| server.run(&mindful, updates));
    let known = |run: &Report| run.run["steps"][0]["log_bytes_per_s"].is_number();
    let odd = runs.find(known).expect("WAL is counted in one of three runs");
    assert!(!odd.has("session-error") && !odd.has("mix") && !odd.has("clock-step"), "{odd}");
    assert_eq!(odd.own_warnings(), [""; 0], "{odd}");
    assert!(odd.figure("physical_reads_per_s") > 0.0 && odd.figure("log_bytes_per_s") > 0.0, "{odd}");
}

#[test]
fn content_that_repeats_makes_a_run_suspect() {
    let mindful = Mindful::beside_others(place()).with_private();
    let repeated = mindful.private_run(("--namespace alike --content repeated", PAUSES));
    repeated.assert_suspect_of("repeated-content", "LZ4");
}

#[test]
fn counters_the_role_may_not_read_are_named_and_null() {
    let mindful = Mindful::beside_others(place());
    let server = UsersServer::at(&mindful.path("users"), "shared_buffers=1MB");
    server.sql("CREATE ROLE plain LOGIN; GRANT CREATE, TEMP ON DATABASE mindful TO plain; REVOKE SELECT ON pg_stat_wal FROM PUBLIC");
    let url = server.admit(&mindful, "plain");
    let denied = mindful.short_run((format!("--target {url} --update-pct 20"), PAUSES));
    denied.assert_suspect("counters-denied");
    assert_eq!(denied.evidence("counters-denied"), "pg_stat_wal");
    assert!(denied.run["steps"][0]["log_bytes_per_s"].is_null(), "{denied}");
}

/// Log writes at the end of sessions and of their processes do not belong to the window.
#[test]
fn sessions_that_only_read_write_no_log_in_the_window() {
    let mindful = Mindful::beside_others(place()).with_private();
    let sessions = 30;
    mindful.private_run((format!("--sessions {sessions} --work-unit 8 --duration 4s"), PAUSES));
    let events = mindful.events();
    let of_log = |kind: &'static str| move |event: &&Value| event["event"] == kind && event["source"] == "pg_stat_wal";
    let source = events.iter().find(of_log("source")).unwrap_or_else(|| panic!("{events:#?}"));
    let column = source["metrics"].as_array().unwrap().iter().position(|m| m["name"] == "log_records").unwrap();
    // After the first second of work; a reading that came too late for its boundary is unknown.
    let of_work = events.iter().filter(of_log("sample")).filter(|sample| sample["boundary"].as_u64() > Some(0));
    let records: Vec<f64> = of_work.filter_map(|sample| sample["values"][column].as_f64()).collect();
    assert!(records.len() > 1, "{events:#?}");
    let grown = records[records.len() - 1] - records[0];
    assert!(grown < f64::from(sessions), "{grown} records of log: {records:?}");
}
