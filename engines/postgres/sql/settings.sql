-- Every setting that decides a figure, as SHOW prints it: with its unit.
SELECT name, current_setting(name) AS value
FROM pg_settings
WHERE name = ANY (ARRAY[
    'shared_buffers', 'huge_pages', 'huge_pages_status', 'block_size', 'wal_block_size', 'data_checksums',
    'debug_io_direct', 'io_method', 'io_workers', 'io_min_workers', 'io_max_workers',
    'io_max_concurrency', 'io_max_combine_limit', 'effective_io_concurrency', 'io_combine_limit',
    'fsync', 'synchronous_commit', 'synchronous_standby_names', 'full_page_writes', 'wal_level', 'wal_sync_method',
    'wal_compression', 'wal_buffers', 'max_wal_size', 'min_wal_size', 'checkpoint_timeout', 'checkpoint_completion_target',
    'bgwriter_delay', 'bgwriter_lru_maxpages', 'bgwriter_flush_after', 'checkpoint_flush_after', 'backend_flush_after',
    'autovacuum', 'track_io_timing', 'track_wal_io_timing', 'archive_mode', 'max_connections', 'commit_delay',
    'random_page_cost', 'jit', 'shared_preload_libraries', 'server_version_num', 'default_table_access_method'])
ORDER BY name
