-- The settings that the checks read, in whole units: bytes, ms, or the plain number. A setting that this role may not
-- see, or that this version lacks, is missing.
SELECT name, setting,
       CASE
           WHEN vartype NOT IN ('integer', 'real') THEN NULL
           WHEN setting::float8 < 0 THEN setting::float8
           ELSE setting::float8 * CASE unit
               WHEN 'B' THEN 1 WHEN 'kB' THEN 1024 WHEN '8kB' THEN 8192 WHEN 'MB' THEN 1048576
               WHEN 'ms' THEN 1 WHEN 's' THEN 1000 WHEN 'min' THEN 60000 ELSE 1 END
       END AS number
FROM pg_settings
WHERE name = ANY (ARRAY[
    'shared_buffers', 'debug_io_direct', 'effective_io_concurrency', 'io_method', 'io_combine_limit',
    'max_wal_size', 'checkpoint_timeout', 'checkpoint_completion_target', 'autovacuum', 'data_checksums',
    'full_page_writes', 'fsync', 'synchronous_commit', 'synchronous_standby_names', 'archive_mode', 'huge_pages',
    'huge_pages_status', 'track_io_timing', 'track_counts', 'track_activities', 'shared_preload_libraries',
    'log_min_duration_statement', 'log_statement',
    'log_duration', 'jit', 'jit_above_cost', 'auto_explain.log_min_duration'])
