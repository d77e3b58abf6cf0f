//! Every lie that a run could tell has a test that catches it.

use std::collections::BTreeSet;

use crate::house::{members, root, rust, test_names};

/// Each false claim that a run could make, and its test.
const LIES: &[(&str, &str)] = &[
    ("the database's cache is called storage", "a_clean_ledger_closes_and_cached_data_is_not_storage"),
    ("SQLite's caches serve a part", "the_share_that_sqlites_caches_will_serve_is_predicted"),
    ("the page cache is called storage", "a_warm_page_cache_is_reported_and_a_limit_cures_it"),
    ("the page cache served all, and a part is reported", "reads_from_the_page_cache_alone_are_called_all_of_it"),
    ("tmpfs is called storage", "a_database_in_tmpfs_is_read_from_memory_alone"),
    ("a RAM disk is called storage", "a_disk_of_memory_is_no_storage"),
    ("the page cache under a loop device is called storage", "a_loop_device_is_storage_only_past_the_page_cache"),
    ("a btrfs is storage without a device", "a_btrfs_is_followed_to_its_device"),
    ("what a process serves is called page cache", "a_file_system_of_a_process_is_neither_storage_nor_page_cache"),
    ("what stores the layers of a container is not seen", "below_an_overlay_is_the_file_system_it_writes_to"),
    ("a database folder is a link to memory", "a_link_to_a_loop_device_in_memory_is_no_storage"),
    ("the log lies in memory", "a_log_in_memory_is_not_durable"),
    ("the log's volume is called the data's", "a_log_volume_at_its_limit_is_the_verdict"),
    ("MariaDB's log volume is called the data's", "a_log_volume_of_a_mariadb_at_its_limit_is_the_verdict"),
    ("a server does not sync", "syncs_of_each_mode_of_a_server_are_counted_at_the_volume"),
    ("bytes of the log vanish between server and device", "the_ledger_of_a_log_on_its_own_volume_closes"),
    ("MariaDB does not sync", "syncs_of_each_mode_of_a_mariadb_are_counted_at_the_volume"),
    ("SQLite does not sync", "syncs_of_each_mode_of_sqlite_are_counted_at_the_volume"),
    ("a library swallows the server's syncs", "a_server_with_swallowed_syncs_is_not_durable"),
    ("a library swallows SQLite's syncs", "an_sqlite_with_swallowed_syncs_is_not_durable"),
    ("reads of another backend hide the page cache", "a_backend_that_reads_storage_does_not_hide_the_page_cache"),
    ("others write to the device", "a_writer_next_to_a_run_is_found"),
    ("others flush the device", "a_neighbour_that_flushes_the_device_is_found"),
    ("others compute in a MariaDB", "another_session_that_computes_in_a_mariadb_is_found"),
    ("reads of another thread hide the page cache", "a_thread_that_reads_storage_is_not_taken_for_the_runs"),
    ("a binary log lies in memory", "a_binary_log_in_memory_is_not_durable"),
    ("a server stops for parts of seconds", "a_server_that_stops_half_of_the_time_is_reported"),
    ("one session is held up", "one_session_that_is_held_up_is_reported_with_its_wait"),
    ("others compute in the server", "another_session_that_computes_in_the_server_is_found"),
    ("a clock is set", "a_clock_that_was_set_in_the_window_is_reported"),
    ("the server's clock is set", "a_servers_clock_set_during_the_run_is_reported"),
    ("a remote server's clock is set", "setting_the_clock_of_a_remote_server_ends_the_run"),
    ("the host's clock is set", "setting_the_hosts_clock_ends_a_run_on_its_own_server"),
    ("with few sessions only some schemas are visited", "few_sessions_find_no_more_in_the_cache_than_many"),
    ("a control group holds the server back", "a_server_held_back_by_its_control_group_is_reported"),
    ("a control group is limited in the window", "a_cpu_limit_that_is_set_during_a_run_is_reported"),
    ("a setting changes in the window", "a_setting_that_changes_in_the_window_ends_it"),
    ("counters are reset in the window", "counters_that_are_reset_in_the_window_end_it"),
    ("a server is moved into a group in the window", "a_server_that_is_moved_into_a_group_in_the_window_ends_it"),
    ("a limit of reads comes or goes", "a_limit_of_reads_that_comes_or_goes_in_the_window_ends_it"),
    ("a table is rewritten in the window", "a_table_that_is_rewritten_in_the_window_ends_it"),
    ("a table was rewritten before the run", "a_layout_that_was_changed_before_a_run_is_refused"),
    ("a MariaDB changes in the window", "changes_in_a_mariadb_during_a_run_are_reported"),
    ("a SQLite file changes in the window", "changes_in_a_sqlite_file_are_reported_or_refused"),
    ("a queue or a mount changes in the window", "a_queue_or_mount_that_is_changed_in_a_run_is_reported"),
    ("a server loses CPUs in the window", "a_server_that_is_kept_on_one_cpu_in_the_window_ends_it"),
    ("a load orders the cache", "a_cache_is_filled_by_block_after_a_load_as_after_a_restart"),
    ("others order the cache", "a_cache_that_others_filled_is_another_setting"),
    ("operations order the caches of SQLite", "each_session_of_sqlite_fills_its_own_cache"),
    ("operations order the buffer pool of a MariaDB", "the_buffer_pool_of_a_mariadb_is_filled_by_page"),
    ("a control group holds the client back", "a_client_without_cpu_is_called_the_limit"),
    ("a cache does not fit its control group", "a_cache_beyond_the_limit_of_a_group_above_is_refused"),
    ("a volume's limit is called the storage's", "a_limit_that_a_volume_reports_is_the_verdict"),
    ("a control group's limit is called the storage's", "a_server_at_the_limit_of_its_group_has_that_limit_named"),
    ("others use the CPUs", "busy_loops_next_to_a_run_are_named_first"),
    ("others read the device", "another_reader_of_the_device_is_found"),
    ("others scan in the server", "scans_of_others_in_the_same_server_are_found"),
    ("another run reads the server's cache", "of_two_runs_on_one_cached_server_each_claims_its_own_reads"),
    ("autovacuum is at work", "autovacuum_in_the_window_is_found"),
    ("others write the log", "log_that_others_write_is_seen_by_bytes_of_updated_blocks"),
    ("the server stood still", "a_server_that_stood_still_is_reported_first"),
    ("sessions wait for their next order", "sessions_beyond_the_cpus_lose_less_between_slices_sent_ahead"),
    ("hundreds of sessions are outside of operations", "hundreds_of_sessions_lose_no_time_between_slices"),
    ("a slice holds no operation", "a_thousand_sessions_of_a_slow_target_lose_no_time"),
    ("what is published late is called page cache", "late_counters_belong_to_the_window_of_their_work"),
    ("one session stood still", "one_session_that_stood_still_is_reported_with_its_number"),
    ("a session that waits for a CPU is called stopped", "busy_loops_are_no_stall"),
    ("the page cache before InnoDB is called storage", "the_page_cache_before_a_mariadb_is_reported"),
    ("InnoDB in tmpfs is called storage", "a_mariadb_in_tmpfs_is_read_from_memory_alone"),
    ("a MariaDB stood still", "a_mariadb_that_stood_still_is_reported_first"),
    (
        "a session that waits for a CPU in a MariaDB waits for latches",
        "latches_of_a_mariadb_on_a_full_host_wait_for_cpu",
    ),
    ("sessions wait for each other's rows in a MariaDB", "sessions_that_update_one_row_of_a_mariadb_are_reported"),
    ("others scan in a MariaDB", "scans_of_others_in_a_mariadb_are_found"),
    ("another run reads the cache of a MariaDB", "of_two_runs_on_one_mariadb_each_claims_its_own_reads"),
    ("sessions wait for each other's rows", "sessions_that_update_one_row_set_are_reported"),
    ("the log has no room", "a_log_without_room_forces_checkpoints_and_they_are_reported"),
    ("work ran out of time", "fixed_work_that_ran_out_of_time_is_invalid"),
    ("blocks are read by a bitmap", "bitmaps_are_overruled_and_a_missing_index_is_refused"),
    ("settings of the role bend figures", "settings_of_the_role_change_no_figure"),
    ("stored bytes compress to nothing", "content_that_repeats_makes_a_run_suspect"),
    ("counters may not be read and are zero", "counters_the_role_may_not_read_are_named_and_null"),
    ("what sessions write on leaving is counted", "sessions_that_only_read_write_no_log_in_the_window"),
    ("a pooler moves sessions between backends", "a_pooler_that_moves_sessions_is_refused_in_one_line"),
    ("a search ends by chance", "loads_that_differ_by_less_than_the_noise_are_a_range"),
    ("too few operations are a missed objective", "a_search_that_cannot_decide_fails_with_the_needed_time"),
    ("a fit is sold as a measurement", "a_fitted_capacity_is_held_apart_from_what_was_measured"),
    ("one round is given an interval", "a_contrast_measures_every_level_on_one_core_and_on_all"),
    ("a gate that cannot decide passes", "a_gate_that_is_not_decided_fails_unless_it_is_asked_to_pass"),
    ("a gate has too few runs to ever fail", "a_gate_that_can_never_decide_is_refused_before_anything_runs"),
];

/// Every test that is named exists, and every test of the folder is named.
#[test]
fn the_list_of_lies_names_each_of_their_tests() {
    let named: BTreeSet<String> = LIES.iter().map(|(_, test)| (*test).to_owned()).collect();
    let all = members().iter().flat_map(|member| test_names(&rust(member))).collect();
    let missing: Vec<_> = named.difference(&all).collect();
    assert!(missing.is_empty(), "no such tests: {missing:?}");
    let of_folder = test_names(&rust(&root().join("crates/cli/tests/it/lies")));
    let unnamed: Vec<_> = of_folder.difference(&named).collect();
    assert!(unnamed.is_empty(), "the list of lies does not name {unnamed:?}");
}
