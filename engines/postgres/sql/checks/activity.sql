-- Other sessions at this moment. Columns that need a privilege the role lacks are null or empty; `sees_all` shows which
-- case it is.
WITH others AS (
    SELECT state, xact_start, backend_xmin, application_name, usename
    FROM pg_stat_activity
    WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()
), horizon AS (
    SELECT count(*) AS held, extract(epoch FROM clock_timestamp() - min(since))::float8 AS oldest_s
    FROM (SELECT xact_start AS since FROM others WHERE backend_xmin IS NOT NULL OR state LIKE 'idle in transaction%'
          UNION ALL SELECT prepared FROM pg_prepared_xacts) AS held
), slots AS (
    SELECT count(*) AS slots, count(*) FILTER (WHERE NOT active) AS inactive,
           count(*) FILTER (WHERE xmin IS NOT NULL) AS holding,
           CASE WHEN pg_is_in_recovery() THEN NULL
                ELSE max(pg_wal_lsn_diff(pg_current_wal_lsn(), restart_lsn))::float8 END AS kept_bytes
    FROM pg_replication_slots
)
SELECT pg_has_role('pg_read_all_stats', 'USAGE') AS sees_all,
       (SELECT count(*) FROM others WHERE state = 'active') AS active,
       (SELECT string_agg(DISTINCT coalesce(nullif(application_name, ''), usename::text, '?'), ', ')
        FROM others WHERE state = 'active') AS by_whom,
       (SELECT count(*) FROM others WHERE state LIKE 'idle in transaction%') AS idle_in_transaction,
       horizon.held, horizon.oldest_s,
       slots.slots, slots.inactive, slots.holding, slots.kept_bytes,
       (SELECT count(*) FROM pg_stat_replication) AS replicas,
       (SELECT count(*) FROM pg_class
        WHERE relnamespace = to_regnamespace(quote_ident($1)) AND relkind = 'r'
          AND NOT coalesce(reloptions @> ARRAY['autovacuum_enabled=off'] OR reloptions @> ARRAY['autovacuum_enabled=false'], false)
          AND relname LIKE 'blocks%') AS vacuumed
FROM horizon, slots
