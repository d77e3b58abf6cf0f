//! What each check of the server tells: what is, what that does to a result, and the line that changes it.

use std::collections::BTreeSet;

use mindful_conformance::finding::each_tells_what_is_what_it_does_and_what_to_type;

use super::check;
use super::state::{Activity, Planned, State};
use crate::codes;

/// Code, what its evidence names, and what its text tells to type.
const REPORTED: [(&str, &str, &str); 20] = [
    ("mysql-sysdate-stands", "SYSDATE(6) stands still", "--loop client"),
    ("mysql-read-only", "read_only = ON", "SET GLOBAL read_only = OFF"),
    ("mysql-connections", "64 sessions do not fit: max_connections is 10", "SET GLOBAL max_connections = "),
    ("mysql-predicted-hits", "50.0 %", "--scale"),
    ("mysql-page-cache", "innodb_flush_method = fsync", "innodb_flush_method = O_DIRECT"),
    ("mysql-adaptive-hash", "innodb_adaptive_hash_index = ON", "SET GLOBAL innodb_adaptive_hash_index = OFF"),
    ("mysql-read-ahead", "innodb_read_ahead_threshold = 56", "SET GLOBAL innodb_read_ahead_threshold = 0"),
    ("mysql-change-buffering", "innodb_change_buffering = all", "SET GLOBAL innodb_change_buffering = none"),
    ("mysql-pool-dump", "innodb_buffer_pool_load_at_startup = ON", "SET GLOBAL innodb_buffer_pool_dump_at_shutdown"),
    ("mysql-query-cache", "query_cache_type = ON", "SET GLOBAL query_cache_type = OFF"),
    ("mysql-io-timing-off", "performance_schema = OFF", "performance_schema = ON"),
    ("mysql-commits-do-not-wait", "innodb_flush_log_at_trx_commit = 2", "innodb_flush_log_at_trx_commit = 1"),
    ("mysql-sync-binlog", "log_bin = ON, sync_binlog = 0", "SET GLOBAL sync_binlog = 1"),
    ("mysql-doublewrite-off", "innodb_doublewrite = OFF", "innodb_doublewrite = ON"),
    ("mysql-io-capacity", "innodb_io_capacity = 200", "SET GLOBAL innodb_io_capacity = 2000"),
    ("mysql-flush-neighbors", "innodb_flush_neighbors = 1", "SET GLOBAL innodb_flush_neighbors = 0"),
    ("mysql-statements-logged", "general_log = ON", "SET GLOBAL general_log = OFF"),
    ("mysql-others-active", "2 of app", "KILL"),
    ("mysql-namespace-shared", "connection 42", "--shared"),
    ("mysql-partly-seen", "sessions of other users", "GRANT PROCESS ON *.*"),
];

/// A server of which all is to be said.
fn worst() -> State {
    let settings = [
        ("read_only", "ON"),
        ("max_connections", "10"),
        ("innodb_buffer_pool_size", "1073741824"),
        ("innodb_flush_method", "fsync"),
        ("innodb_adaptive_hash_index", "ON"),
        ("innodb_read_ahead_threshold", "56"),
        ("innodb_random_read_ahead", "OFF"),
        ("innodb_change_buffering", "all"),
        ("innodb_buffer_pool_load_at_startup", "ON"),
        ("query_cache_type", "ON"),
        ("query_cache_size", "1048576"),
        ("performance_schema", "OFF"),
        ("innodb_flush_log_at_trx_commit", "2"),
        ("log_bin", "ON"),
        ("sync_binlog", "0"),
        ("innodb_doublewrite", "OFF"),
        ("innodb_io_capacity", "200"),
        ("innodb_flush_neighbors", "1"),
        ("general_log", "ON"),
    ];
    State {
        settings: settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        activity: Activity { sees_all: false, by_whom: vec!["2 of app".to_owned()], connected: 4 },
        planned: Planned {
            active_bytes: 2 << 30,
            uniform: true,
            updates: true,
            writes: true,
            commit_wait: true,
            sessions: 64,
        },
        users: Some("42".to_owned()),
        clock_stands: true,
    }
}

#[test]
fn every_check_tells_what_is_what_it_does_and_what_to_type() {
    let found = check(&worst());
    each_tells_what_is_what_it_does_and_what_to_type(&found, &REPORTED);
    let reported: BTreeSet<&str> = REPORTED.iter().map(|(code, ..)| *code).collect();
    assert!(codes::ALL.iter().filter(|code| reported.contains(code.name())).count() == REPORTED.len());
}

#[test]
fn a_server_as_mindful_sets_it_up_is_nothing_to_speak_of() {
    let settings = [
        ("read_only", "OFF"),
        ("max_connections", "200"),
        ("innodb_buffer_pool_size", "67108864"),
        ("innodb_data_file_buffering", "OFF"),
        ("innodb_adaptive_hash_index", "OFF"),
        ("innodb_read_ahead_threshold", "0"),
        ("innodb_random_read_ahead", "OFF"),
        ("innodb_change_buffering", "none"),
        ("innodb_buffer_pool_load_at_startup", "OFF"),
        ("query_cache_type", "OFF"),
        ("query_cache_size", "1048576"),
        ("innodb_flush_log_at_trx_commit", "1"),
        ("log_bin", "OFF"),
        ("innodb_doublewrite", "ON"),
        ("innodb_io_capacity", "2000"),
        ("innodb_flush_neighbors", "0"),
        ("general_log", "OFF"),
    ];
    let state = State {
        settings: settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        activity: Activity { sees_all: true, ..Activity::default() },
        users: None,
        clock_stands: false,
        ..worst()
    };
    let codes: Vec<String> = check(&state).into_iter().map(|finding| finding.code).collect();
    assert_eq!(codes, ["mysql-predicted-hits"]);
}
