-- Objects in a database of the private server, or outside it, that neither initdb nor mindful created; $1 is the
-- namespace. Objects created after initdb have an oid from 16384 on.
SELECT format('database %I', datname) AS name FROM pg_database WHERE oid >= 16384 AND datname <> $2
UNION
SELECT format('tablespace %I', spcname) FROM pg_tablespace WHERE oid >= 16384
UNION
SELECT format('role %I', rolname) FROM pg_roles WHERE oid >= 16384
UNION
SELECT format('schema %I', nspname) FROM pg_namespace
WHERE oid >= 16384 AND nspname !~ '^pg_' AND NOT (nspname = $1 AND current_database() = $2)
UNION
SELECT format('extension %I', extname) FROM pg_extension WHERE oid >= 16384
UNION
SELECT format('relation %I.%I', n.nspname, c.relname)
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE c.oid >= 16384 AND n.nspname = 'public' AND c.relkind NOT IN ('i', 'I')
UNION
SELECT format('routine %I.%I', n.nspname, p.proname)
FROM pg_proc AS p JOIN pg_namespace AS n ON n.oid = p.pronamespace
WHERE p.oid >= 16384 AND n.nspname = 'public'
ORDER BY name
