-- Limits of the connections of this role, each with its free rest. A limit of role or database does not apply to
-- superusers.
WITH present AS (
    -- A role without the right can see the user of a session, but not its kind.
    SELECT usesysid, datid FROM pg_stat_activity
    WHERE usesysid IS NOT NULL AND datid IS NOT NULL AND coalesce(backend_type, 'client backend') = 'client backend'
), own AS (
    SELECT oid, rolname, rolsuper, rolconnlimit FROM pg_roles WHERE rolname = session_user
), kept AS (
    SELECT CASE WHEN own.rolsuper THEN 0
                ELSE current_setting('superuser_reserved_connections')::integer END AS superusers,
           CASE WHEN own.rolsuper OR EXISTS (SELECT FROM pg_roles AS r WHERE r.rolname = 'pg_use_reserved_connections'
                                             AND pg_has_role(own.rolname, r.oid, 'USAGE')) THEN 0
                ELSE coalesce(current_setting('reserved_connections', true)::integer, 0) END AS others
    FROM own
)
SELECT 'server' AS kind, quote_ident(own.rolname) AS name, current_setting('max_connections')::integer AS most,
       current_setting('max_connections')::integer - kept.superusers - kept.others
           - (SELECT count(*)::integer FROM present) AS free,
       kept.superusers + kept.others AS reserved, kept.others > 0 AS may_be_granted
FROM own, kept
UNION ALL
SELECT 'role', quote_ident(own.rolname), own.rolconnlimit,
       own.rolconnlimit - (SELECT count(*)::integer FROM present WHERE usesysid = own.oid), 0, false
FROM own WHERE own.rolconnlimit >= 0 AND NOT own.rolsuper
UNION ALL
SELECT 'database', quote_ident(d.datname), d.datconnlimit,
       d.datconnlimit - (SELECT count(*)::integer FROM present WHERE datid = d.oid), 0, false
FROM pg_database AS d, own WHERE d.datname = current_database() AND d.datconnlimit >= 0 AND NOT own.rolsuper
ORDER BY free
