SELECT blks_read::float8 AS blks_read,
       blks_read::float8 AS database_reads,
       blks_hit::float8 AS blks_hit,
       (blks_hit + blks_read)::float8 AS logical_reads,
       (blk_read_time * 1000)::float8 AS blk_read_time,
       xact_commit::float8 AS commits,
       xact_rollback::float8 AS xact_rollback,
       tup_fetched::float8 AS tup_fetched,
       tup_updated::float8 AS tup_updated,
       conflicts::float8 AS conflicts,
       deadlocks::float8 AS deadlocks,
       temp_bytes::float8 AS temp_bytes,
       checksum_failures::float8 AS checksum_failures
FROM pg_stat_database
WHERE datname = current_database()
