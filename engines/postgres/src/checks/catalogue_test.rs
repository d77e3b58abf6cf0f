//! Each check of the server contains the state, its effect on a result, and the command that changes it.

use std::collections::BTreeSet;
use std::time::Duration;

use mindful_conformance::finding::each_has_a_state_an_effect_and_a_command;
use mindful_core::result::Finding;
use mindful_core::workload::Access;

use super::check;
use super::state::{Activity, Planned, State};
use crate::checks::connection_limit::SpareConnections;
use crate::checks::idle_settings::Server;
use crate::checks::privileges::Rights;

const GIB: f64 = (1 << 30) as f64;

/// Code, a part of its evidence, and the command in its text.
const REPORTED: [(&str, &str, &str); 31] = [
    ("predicted-hits", "50.0 %", "--scale"),
    ("page-cache-ahead", "8 GiB of memory can hold 100 %", "mindful squeeze"),
    ("server-setting", "effective_io_concurrency = 16", "io_combine_limit = 8kB"),
    ("pg-idle-settings", "io_workers: io_method is not worker", "--access bitmap"),
    ("server-setting", "data_checksums = off", "pg_checksums --enable"),
    ("server-setting", "1 GiB of shared_buffers", "sysctl vm.nr_hugepages="),
    ("write-refused", "the server is read-only", "name the primary"),
    ("write-refused", "no CREATE right on the database bench", "GRANT CREATE ON DATABASE bench TO guest"),
    ("write-refused", "no TEMP right", "GRANT TEMPORARY ON DATABASE bench TO guest"),
    ("checkpoints-ahead", "guest may not CHECKPOINT", "GRANT pg_checkpoint TO guest"),
    ("server-setting", "jit_above_cost = 100000", "ALTER SYSTEM SET jit = off"),
    ("pg-fsync-off", "fsync = off", "ALTER SYSTEM SET fsync = on; SELECT pg_reload_conf()"),
    ("server-setting", "full_page_writes = off", "ALTER SYSTEM SET full_page_writes = on; SELECT"),
    ("commits-do-not-wait", "synchronous_commit = off", "ALTER SYSTEM SET synchronous_commit = on; SELECT"),
    ("replication", "synchronous_standby_names = other", "ALTER SYSTEM SET synchronous_standby_names = ''"),
    ("replication", "archive_mode = on, 1 replicas", "ALTER SYSTEM SET archive_mode = off, and restart"),
    ("checkpoints-ahead", "33.68 MiB of log; expected are 480 MiB: full pages of 0 B", "ALTER SYSTEM SET max_wal_size"),
    ("checkpoints-ahead", "expected are 2.47 GiB: full pages of 2 GiB", "ALTER SYSTEM SET max_wal_size"),
    ("checkpoints-ahead", "a checkpoint each 30 s", "ALTER SYSTEM SET checkpoint_timeout"),
    ("io-timing-off", "about 25 ns each", "ALTER SYSTEM SET track_io_timing = on"),
    ("not-seen", "server: track_counts = off", "ALTER SYSTEM RESET"),
    ("server-setting", "log_statement = all", "ALTER SYSTEM RESET"),
    ("server-setting", "shared_preload_libraries = auto_explain", "ALTER SYSTEM RESET shared_preload_libraries"),
    ("pg-autovacuum", "for 2 tables", "SET (autovacuum_enabled = off)"),
    ("others-active", "3 active sessions of others: backup", "pg_terminate_backend"),
    ("pg-held-horizon", "the oldest for 60 s", "pg_terminate_backend"),
    ("replication", "2 slots, 1 of them inactive", "SELECT pg_drop_replication_slot"),
    ("connections", "64 sessions do not fit: max_connections is 10", "ALTER SYSTEM SET max_connections"),
    ("pg-sessions-memory", "64 sessions take about 768 MiB (12 MiB each), 256 MiB are free", "--sessions 21"),
    ("dataset-shared", "server process 42", "--shared"),
    ("not-seen", "other roles' sessions", "GRANT pg_monitor TO"),
];

/// A server with all findings, except those of commits that wait for a standby or do not wait.
fn worst() -> State {
    let planned = Planned {
        active_bytes: 2 << 30,
        uniform: true,
        updates: true,
        scans: true,
        access: Access::Bitmap,
        commit_wait: true,
        in_server: true,
        loads: true,
        sessions: 64,
        duration: Duration::from_mins(1),
    };
    let activity = Activity {
        sees_all: false,
        active: 3,
        by_whom: Some("backup".to_owned()),
        held: 1,
        oldest_s: Some(60.0),
        slots: 2,
        inactive_slots: 1,
        replicas: 1,
        vacuumed: 2,
        ..Activity::default()
    };
    let room = Some(SpareConnections {
        free: 5,
        limit: "max_connections is 10".to_owned(),
        most: 10,
        remedy: ("ALTER SYSTEM SET max_connections = ".to_owned(), " and restart".to_owned()),
    });
    let (users, available_bytes, clock_ns) = (Some("42".to_owned()), Some(8 << 30), Some(25.0));
    let rights =
        Some(Rights { read_only: true, role: "guest".to_owned(), database: "bench".to_owned(), ..Rights::default() });
    let reads = Some(Server { major: 18, io_method: Some("sync".to_owned()), direct: true });
    let given_settings = vec!["io_workers".to_owned()];
    let host = State { users, available_bytes, clock_ns, ..State::default() };
    State { activity, planned, room, rights, reads, given_settings, ..host }
        .with("shared_buffers", "", Some(GIB))
        .with("effective_io_concurrency", "16", None)
        .with("data_checksums", "off", None)
        .with("huge_pages_status", "off", None)
        .with("fsync", "off", None)
        .with("jit", "on", None)
        .with("jit_above_cost", "100000", None)
        .with("full_page_writes", "off", None)
        .with("archive_mode", "on", None)
        .with("max_wal_size", "", Some(GIB / 16.0))
        .with("checkpoint_timeout", "", Some(30e3))
        .with("track_io_timing", "off", None)
        .with("track_counts", "off", None)
        .with("log_statement", "all", None)
        .with("shared_preload_libraries", "auto_explain", None)
        .with("autovacuum", "on", None)
}

fn found() -> Vec<Finding> {
    let mut findings = check(&worst().with("synchronous_commit", "off", None));
    findings.extend(check(&worst().with("synchronous_standby_names", "other", None)));
    findings.extend(check(&worst().with("full_page_writes", "on", None)));
    findings.extend(check(&State { available_bytes: Some(256 << 20), ..worst() }));
    findings
}

#[test]
fn each_check_has_a_state_an_effect_and_a_command() {
    each_has_a_state_an_effect_and_a_command(&found(), &REPORTED);
}

#[test]
fn no_check_is_left_out() {
    let found = found();
    let texts: BTreeSet<&str> = found.iter().map(|finding| finding.text.as_str()).collect();
    let listed = |text: &&str| REPORTED.iter().any(|(.., to_type)| text.contains(to_type));
    assert_eq!(texts.into_iter().filter(|text| !listed(text)).collect::<Vec<_>>(), Vec::<&str>::new());
}

#[test]
fn nothing_is_reported_of_a_state_within_its_limits() {
    let but = |change: fn(&mut State)| {
        let mut state = worst();
        change(&mut state);
        state
    };
    for (code, evidence, state) in [
        ("checkpoints-ahead", "of log", worst().with("max_wal_size", "", Some(GIB))),
        ("checkpoints-ahead", "of log", but(|state| state.planned.updates = false)),
        ("checkpoints-ahead", "a run of", worst().with("checkpoint_timeout", "", Some(300e3))),
        ("predicted-hits", "", but(|state| state.planned.active_bytes = 0)),
        ("page-cache-ahead", "", but(|state| state.planned.active_bytes = 1 << 29)),
        ("page-cache-ahead", "", but(|state| state.available_bytes = None)),
        ("page-cache-ahead", "", worst().with("debug_io_direct", "data", None)),
        ("pg-held-horizon", "", but(|state| state.activity.oldest_s = Some(1.0))),
        ("pg-held-horizon", "", but(|state| state.activity.oldest_s = None)),
        ("pg-sessions-memory", "", worst()),
        ("pg-sessions-memory", "", but(|state| state.available_bytes = None)),
        ("server-setting", "log_min_duration", worst().with("log_min_duration_statement", "", Some(250.0))),
        ("server-setting", "log_min_duration", worst().with("log_min_duration_statement", "", Some(-1.0))),
    ] {
        let found = check(&state);
        let of_code = found.iter().find(|finding| finding.code == code && finding.evidence.contains(evidence));
        assert_eq!(of_code, None);
    }
}

#[test]
fn of_an_unknown_server_nothing_is_said_but_that() {
    let codes: Vec<String> = check(&State::default()).into_iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["not-seen"]);
}
