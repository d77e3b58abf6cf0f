SELECT r.name, r.kind, r.object, r.schema, r.blocks, r.seed, r.content, r.shape,
       c.oid IS NOT NULL AS exists,
       -- A proof holds while the rows are in their places: in the same file of the same length, and at most one row in
       -- a thousand was added, removed or moved to another block.
       CASE WHEN r.proven_file = pg_relation_filenode(c.oid) AND r.proven_reset IS NOT DISTINCT FROM counted.reset
                 AND abs(pg_relation_size(c.oid) / 8192 - r.proven_pages) <= r.blocks / 1000
                 AND counted.moved - r.proven_moved BETWEEN 0 AND r.blocks / 1000
            THEN r.proof END AS proof,
       CASE WHEN c.oid IS NULL THEN 0 ELSE pg_table_size(c.oid) END AS table_bytes,
       CASE WHEN c.oid IS NULL THEN 0 ELSE pg_indexes_size(c.oid) END AS index_bytes
FROM {{namespace}}.registry AS r
     LEFT JOIN pg_class AS c
     ON c.oid = r.object AND c.relname = r.name AND c.relkind = 'r' AND c.relnamespace = $1
     CROSS JOIN LATERAL (
         SELECT pg_stat_get_tuples_inserted(r.object) + pg_stat_get_tuples_deleted(r.object)
                    + pg_stat_get_tuples_updated(r.object) - pg_stat_get_tuples_hot_updated(r.object) AS moved,
                (SELECT d.stats_reset FROM pg_stat_database AS d WHERE d.datname = current_database()) AS reset
     ) AS counted
ORDER BY r.kind, r.schema
