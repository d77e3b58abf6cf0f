-- Foreign objects in our namespace, except objects that belong to a table.
SELECT format('%I.%I', n.nspname, c.relname) AS name, c.oid AS object
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.oid = $1 AND c.relkind NOT IN ('i', 'I', 't') AND NOT c.oid = ANY ($2)
UNION ALL
SELECT format('%I.%I', n.nspname, p.proname), p.oid
FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
WHERE n.oid = $1
UNION ALL
SELECT format('%I.%I', n.nspname, t.typname), t.oid
FROM pg_type AS t JOIN pg_namespace AS n ON n.oid = t.typnamespace
WHERE n.oid = $1 AND t.typrelid = 0 AND t.typelem = 0
ORDER BY name
