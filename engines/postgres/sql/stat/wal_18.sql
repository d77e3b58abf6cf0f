-- From 18 on writes and syncs of the log stand in pg_stat_io.
SELECT w.wal_bytes::float8 AS log_bytes,
       w.wal_records::float8 AS wal_records,
       w.wal_fpi::float8 AS wal_fpi,
       w.wal_buffers_full::float8 AS wal_buffers_full,
       (SELECT sum(writes) FROM pg_stat_io WHERE object = 'wal')::float8 AS log_writes,
       (SELECT sum(fsyncs) FROM pg_stat_io WHERE object = 'wal')::float8 AS log_syncs
FROM pg_stat_wal AS w
