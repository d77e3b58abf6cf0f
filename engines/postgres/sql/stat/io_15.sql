-- Before 16 only the database's own count of reads and the background writers' of writes are there.
SELECT d.blks_read::float8 AS physical_reads,
       (d.blk_read_time * 1000)::float8 AS read_time,
       (b.buffers_checkpoint + b.buffers_clean + b.buffers_backend)::float8 AS physical_writes,
       b.buffers_backend::float8 AS session_writes,
       b.buffers_checkpoint::float8 AS checkpoint_writes,
       b.buffers_clean::float8 AS background_writes
FROM pg_stat_database AS d, pg_stat_bgwriter AS b
WHERE d.datname = current_database()
