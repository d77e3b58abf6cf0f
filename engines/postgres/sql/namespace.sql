SELECT n.oid, obj_description(n.oid, 'pg_namespace') AS mark, pg_has_role(n.nspowner, 'USAGE') AS ours
FROM pg_namespace AS n
WHERE n.nspname = $1
