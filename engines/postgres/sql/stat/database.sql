SELECT sum(blks_read)::float8 AS blks_read,
       sum(blks_read)::float8 AS database_reads,
       sum(blks_hit)::float8 AS blks_hit,
       sum(blks_hit + blks_read)::float8 AS logical_reads,
       sum(blk_read_time * 1000)::float8 AS blk_read_time,
       sum(xact_commit)::float8 AS commits,
       sum(xact_rollback)::float8 AS xact_rollback,
       sum(tup_fetched)::float8 AS tup_fetched,
       sum(tup_updated)::float8 AS tup_updated,
       sum(conflicts)::float8 AS conflicts,
       sum(deadlocks)::float8 AS deadlocks,
       sum(temp_bytes)::float8 AS temp_bytes,
       sum(checksum_failures)::float8 AS checksum_failures
FROM pg_stat_database
WHERE datname = current_database()
