SELECT c.num_timed::float8 AS num_timed,
       c.num_requested::float8 AS num_requested,
       (c.write_time * 1000)::float8 AS checkpoint_write_time,
       (c.sync_time * 1000)::float8 AS checkpoint_sync_time,
       c.buffers_written::float8 AS checkpoint_buffers,
       b.buffers_clean::float8 AS buffers_clean,
       b.maxwritten_clean::float8 AS maxwritten_clean
FROM pg_stat_checkpointer AS c, pg_stat_bgwriter AS b
