SELECT checkpoints_timed::float8 AS num_timed,
       checkpoints_req::float8 AS num_requested,
       (checkpoint_write_time * 1000)::float8 AS checkpoint_write_time,
       (checkpoint_sync_time * 1000)::float8 AS checkpoint_sync_time,
       buffers_checkpoint::float8 AS checkpoint_buffers,
       buffers_clean::float8 AS buffers_clean,
       maxwritten_clean::float8 AS maxwritten_clean
FROM pg_stat_bgwriter
