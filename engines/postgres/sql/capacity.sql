-- Connections that an ordinary role can still open.
SELECT current_setting('max_connections')::integer AS most,
       current_setting('max_connections')::integer
           - current_setting('superuser_reserved_connections')::integer
           - coalesce(current_setting('reserved_connections', true)::integer, 0)
           - (SELECT count(*)::integer FROM pg_stat_activity WHERE backend_type = 'client backend') AS free,
       pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS read_only,
       has_database_privilege(current_database(), 'TEMP') AS may_install,
       (SELECT rolconnlimit FROM pg_roles WHERE rolname = current_user) AS role_limit
