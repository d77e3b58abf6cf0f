SELECT wal_bytes::float8 AS log_bytes,
       wal_records::float8 AS log_records,
       wal_fpi::float8 AS log_images,
       wal_buffers_full::float8 AS wal_buffers_full,
       wal_write::float8 AS log_writes,
       wal_sync::float8 AS log_syncs,
       CASE WHEN current_setting('track_wal_io_timing')::boolean THEN wal_sync_time END::float8 * 1000 AS log_sync_time
FROM pg_stat_wal
