-- Tables of ours that hold row versions which reads would clean up, and so write.
SELECT quote_ident(s.schemaname) || '.' || quote_ident(s.relname) AS name
FROM pg_stat_user_tables AS s
WHERE s.relid = ANY ($1) AND s.n_dead_tup > 0
ORDER BY 1
