SELECT r.name, r.kind, r.object, r.schema, r.blocks, r.seed, r.content, r.shape,
       c.oid IS NOT NULL AS exists,
       CASE WHEN r.proven_file = pg_relation_filenode(c.oid) THEN r.proof END AS proof,
       CASE WHEN c.oid IS NULL THEN 0 ELSE pg_table_size(c.oid) END AS table_bytes,
       CASE WHEN c.oid IS NULL THEN 0 ELSE pg_indexes_size(c.oid) END AS index_bytes
FROM {{namespace}}.registry AS r
     LEFT JOIN pg_class AS c
     ON c.oid = r.object AND c.relname = r.name AND c.relkind = 'r' AND c.relnamespace = $1
ORDER BY r.kind, r.schema
