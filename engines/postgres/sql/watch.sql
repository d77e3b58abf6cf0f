-- Properties that must not change while figures are measured: the load time of the settings, the reset time of
-- counters, and the tables $1. Of these the files, options, triggers and rules, the pages, and the number of added,
-- removed and updated rows are compared.
SELECT pg_conf_load_time()::text AS loaded,
       pg_is_in_recovery()::text AS in_recovery,
       (SELECT count(*)::text FROM pg_stat_replication) AS standbys,
       {{views}}
       (SELECT string_agg(pg_relation_filenode(o.oid)::text, ' ' ORDER BY o.oid)
        FROM (SELECT unnest($1::oid[]) AS oid
              UNION ALL SELECT i.indexrelid FROM pg_index AS i WHERE i.indrelid = ANY ($1::oid[])) AS o) AS files,
       (SELECT coalesce(string_agg(DISTINCT array_to_string(c.reloptions, ' '), '; '), 'none')
        FROM pg_class AS c WHERE c.oid = ANY ($1::oid[])) AS options,
       coalesce((SELECT string_agg(made.name, ', ' ORDER BY made.name)
                 FROM (SELECT t.tgname::text AS name FROM pg_trigger AS t
                       WHERE t.tgrelid = ANY ($1::oid[]) AND t.tgenabled <> 'D'
                       UNION ALL SELECT r.rulename FROM pg_rewrite AS r WHERE r.ev_class = ANY ($1::oid[])
                       UNION ALL SELECT 'row security of ' || c.relname FROM pg_class AS c
                       WHERE c.oid = ANY ($1::oid[]) AND c.relrowsecurity) AS made), 'none') AS attached,
       coalesce((SELECT sum(pg_relation_size(t.oid) / 8192) FROM unnest($1::oid[]) AS t (oid)), 0)::bigint AS pages,
       coalesce((SELECT sum(pg_stat_get_tuples_inserted(t.oid) + pg_stat_get_tuples_deleted(t.oid))
                 FROM unnest($1::oid[]) AS t (oid)), 0)::bigint AS replaced,
       coalesce((SELECT sum(pg_stat_get_tuples_updated(t.oid)) FROM unnest($1::oid[]) AS t (oid)), 0)::bigint AS updated
