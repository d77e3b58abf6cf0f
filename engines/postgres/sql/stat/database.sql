-- Without track_counts the server counts neither blocks nor rows.
SELECT sum(CASE WHEN counts.are_on THEN blks_read END)::float8 AS blks_read,
       sum(CASE WHEN counts.are_on THEN blks_read END)::float8 AS database_reads,
       sum(CASE WHEN counts.are_on THEN blks_hit END)::float8 AS blks_hit,
       sum(CASE WHEN counts.are_on THEN blks_hit + blks_read END)::float8 AS logical_reads,
       sum(blk_read_time * 1000)::float8 AS blk_read_time,
       sum(xact_commit)::float8 AS commits,
       sum(xact_rollback)::float8 AS xact_rollback,
       sum(CASE WHEN counts.are_on THEN tup_fetched END)::float8 AS tup_fetched,
       sum(CASE WHEN counts.are_on THEN tup_updated END)::float8 AS tup_updated,
       sum(conflicts)::float8 AS conflicts,
       sum(deadlocks)::float8 AS deadlocks,
       sum(temp_bytes)::float8 AS temp_bytes,
       sum(checksum_failures)::float8 AS checksum_failures
FROM pg_stat_database, (SELECT current_setting('track_counts')::boolean AS are_on) AS counts
WHERE datname = current_database()
