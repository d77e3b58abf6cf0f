-- Independent of init_connect and global settings: numbers and texts have the form that mindful reads, answers are
-- complete, and no timeout ends a statement or a session. Settings that affect figures are not changed.
SET SESSION autocommit = 1, SESSION time_zone = '+00:00', NAMES utf8mb4,
    SESSION sql_select_limit = 18446744073709551615, SESSION max_join_size = 18446744073709551615,
    SESSION sql_big_selects = 1, SESSION sql_safe_updates = 0, SESSION sql_auto_is_null = 0,
    SESSION sql_quote_show_create = 1, SESSION sql_buffer_result = 0, SESSION completion_type = 0,
    SESSION div_precision_increment = 4, SESSION group_concat_max_len = 1048576,
    SESSION max_sort_length = 1024, SESSION unique_checks = 1, SESSION foreign_key_checks = 1, SESSION profiling = 0,
    SESSION wait_timeout = 86400, SESSION net_read_timeout = 600, SESSION net_write_timeout = 600,
    SESSION timestamp = DEFAULT
    /*M!100100 , SESSION max_statement_time = 0 */
    /*M!100300 , SESSION idle_transaction_timeout = 0, SESSION idle_write_transaction_timeout = 0,
                 SESSION idle_readonly_transaction_timeout = 0, SESSION system_versioning_alter_history = KEEP,
                 SESSION tmp_disk_table_size = 18446744073709551615 */
    /*M!110501 , SESSION max_tmp_session_space_usage = 0 */
    /*!80000 , SESSION max_execution_time = 0, SESSION information_schema_stats_expiry = 0 */
