-- Of mindful's own tables: an update that is not HOT has left its block.
SELECT sum(n_tup_upd)::float8 AS n_tup_upd,
       sum(n_tup_hot_upd)::float8 AS n_tup_hot_upd,
       sum(idx_tup_fetch)::float8 AS idx_tup_fetch,
       sum(seq_scan)::float8 AS seq_scan,
       sum(n_dead_tup)::float8 AS n_dead_tup,
       sum(autovacuum_count)::float8 AS autovacuum_count
FROM pg_stat_user_tables
WHERE schemaname = $1
