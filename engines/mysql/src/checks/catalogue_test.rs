//! Each check of the server contains the state, its effect on a result, and the command that changes it.

use mindful_conformance::finding::each_has_a_state_an_effect_and_a_command;

use super::check;
use super::state::{Activity, Planned, State};

/// Code, a part of its evidence, and the command in its text.
const REPORTED: [(&str, &str, &str); 20] = [
    ("mysql-sysdate-stands", "SYSDATE(6) does not move", "--loop client"),
    ("write-refused", "read_only = ON", "SET GLOBAL read_only = OFF"),
    ("connections", "64 sessions do not fit: max_connections is 10", "SET GLOBAL max_connections = "),
    ("predicted-hits", "50.0 %", "--scale"),
    ("page-cache-ahead", "innodb_flush_method = fsync", "innodb_flush_method = O_DIRECT"),
    ("server-setting", "innodb_adaptive_hash_index = ON", "SET GLOBAL innodb_adaptive_hash_index = OFF"),
    ("server-setting", "innodb_read_ahead_threshold = 56", "SET GLOBAL innodb_read_ahead_threshold = 0"),
    ("server-setting", "innodb_change_buffering = all", "SET GLOBAL innodb_change_buffering = none"),
    ("server-setting", "innodb_buffer_pool_load_at_startup = ON", "SET GLOBAL innodb_buffer_pool_dump_at_shutdown"),
    ("answers-cached", "query_cache_type = ON", "SET GLOBAL query_cache_type = OFF"),
    ("io-timing-off", "performance_schema = OFF", "performance_schema = ON"),
    ("commits-do-not-wait", "innodb_flush_log_at_trx_commit = 2", "innodb_flush_log_at_trx_commit = 1"),
    ("server-setting", "log_bin = ON, sync_binlog = 0", "SET GLOBAL sync_binlog = 1"),
    ("server-setting", "innodb_doublewrite = OFF", "innodb_doublewrite = ON"),
    ("server-setting", "innodb_io_capacity = 200", "SET GLOBAL innodb_io_capacity = 2000"),
    ("server-setting", "innodb_flush_neighbors = 1", "SET GLOBAL innodb_flush_neighbors = 0"),
    ("server-setting", "general_log = ON", "SET GLOBAL general_log = OFF"),
    ("others-active", "2 of app", "KILL"),
    ("dataset-shared", "connection 42", "--shared"),
    ("not-seen", "sessions of other users", "GRANT PROCESS ON *.*"),
];

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
fn every_check_has_a_state_an_effect_and_a_command() {
    let found = check(&worst());
    each_has_a_state_an_effect_and_a_command(&found, &REPORTED);
    assert_eq!(found.len(), REPORTED.len(), "each check has its line above: {found:#?}");
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
    assert_eq!(codes, ["predicted-hits"]);
}
