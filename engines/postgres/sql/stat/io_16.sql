-- All kinds of backends together: a read may be done by one and waited for by another.
SELECT sum(reads * op_bytes)::float8 / current_setting('block_size')::float8 AS physical_reads,
       sum(read_time)::float8 * 1000 AS read_time,
       sum(writes * op_bytes)::float8 / current_setting('block_size')::float8 AS physical_writes,
       sum(write_time)::float8 * 1000 AS write_time,
       -- 17 reads several blocks at once and counts the blocks: it does not report the number of requests.
       CASE WHEN current_setting('server_version_num')::integer < 170000 THEN sum(reads) END::float8 AS reads,
       sum(reads * op_bytes)::float8 AS read_bytes,
       sum(writes)::float8 AS writes,
       sum(writes * op_bytes)::float8 AS write_bytes,
       sum(writebacks)::float8 AS writebacks,
       sum(extends)::float8 AS extends,
       sum(hits)::float8 AS hits,
       sum(evictions)::float8 AS evictions,
       sum(reuses)::float8 AS reuses,
       sum(reads * op_bytes) FILTER (WHERE context = 'bulkread')::float8 / current_setting('block_size')::float8
           + sum(hits) FILTER (WHERE context = 'bulkread')::float8 AS ring_visits,
       sum(fsyncs)::float8 AS fsyncs,
       sum(fsync_time)::float8 * 1000 AS fsync_time,
       sum(writes * op_bytes) FILTER (WHERE backend_type = 'client backend')::float8 / current_setting('block_size')::float8
           AS session_writes,
       sum(writes * op_bytes) FILTER (WHERE backend_type = 'checkpointer')::float8 / current_setting('block_size')::float8
           AS checkpoint_writes,
       sum(writes * op_bytes) FILTER (WHERE backend_type = 'background writer')::float8 / current_setting('block_size')::float8
           AS background_writes,
       sum(reads) FILTER (WHERE backend_type = 'autovacuum worker')::float8 AS autovacuum_reads,
       sum(writes) FILTER (WHERE backend_type = 'autovacuum worker')::float8 AS autovacuum_writes
FROM pg_stat_io
WHERE object = 'relation'
