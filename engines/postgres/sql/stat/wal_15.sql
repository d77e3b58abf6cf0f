SELECT wal_bytes::float8 AS log_bytes,
       wal_records::float8 AS wal_records,
       wal_fpi::float8 AS wal_fpi,
       wal_buffers_full::float8 AS wal_buffers_full,
       wal_write::float8 AS log_writes,
       wal_sync::float8 AS log_syncs
FROM pg_stat_wal
