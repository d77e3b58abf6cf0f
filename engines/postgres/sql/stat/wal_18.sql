-- From 18 on pg_stat_io contains writes and syncs of the log.
SELECT w.wal_bytes::float8 AS log_bytes,
       w.wal_records::float8 AS log_records,
       w.wal_fpi::float8 AS log_images,
       w.wal_buffers_full::float8 AS wal_buffers_full,
       io.writes::float8 AS log_writes,
       io.write_bytes::float8 AS log_write_bytes,
       io.fsyncs::float8 AS log_syncs,
       CASE WHEN current_setting('track_wal_io_timing')::boolean THEN io.fsync_time END * 1000 AS log_sync_time
FROM pg_stat_wal AS w,
     (SELECT sum(writes) AS writes, sum(write_bytes) AS write_bytes, sum(fsyncs) AS fsyncs, sum(fsync_time) AS fsync_time
      FROM pg_stat_io WHERE object = 'wal') AS io
