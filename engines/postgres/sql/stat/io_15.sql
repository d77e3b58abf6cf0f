-- Before 16 only the database's own count of reads and the background writers' of writes are there.
SELECT sum(d.blks_read)::float8 AS physical_reads,
       sum(d.blk_read_time * 1000)::float8 AS read_time,
       max(b.buffers_checkpoint + b.buffers_clean + b.buffers_backend)::float8 AS physical_writes,
       max(b.buffers_backend)::float8 AS session_writes,
       max(b.buffers_checkpoint)::float8 AS checkpoint_writes,
       max(b.buffers_clean)::float8 AS background_writes
FROM pg_stat_database AS d, pg_stat_bgwriter AS b
WHERE d.datname = current_database()
