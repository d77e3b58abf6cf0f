-- The owner, and the allowed owners: the running role, and the role trusted by name.
SELECT n.oid, quote_ident(pg_get_userbyid(n.nspowner)) AS owner, obj_description(n.oid, 'pg_namespace') AS mark,
       may.own, n.nspowner = ANY (may.own) AS ours, quote_ident(current_user) AS role,
       (SELECT c.oid FROM pg_class AS c WHERE c.relnamespace = n.oid AND c.relname = 'registry') AS registry
FROM pg_namespace AS n,
     (SELECT array_agg(oid) AS own FROM pg_roles WHERE rolname IN (current_user, $2::text)) AS may
WHERE n.nspname = $1
