-- Privileges of the role, with the names of role and database for a GRANT.
SELECT pg_is_in_recovery() OR current_setting('transaction_read_only')::boolean AS read_only,
       has_database_privilege(current_database(), 'TEMP') AS may_install,
       has_database_privilege(current_database(), 'CREATE')
           OR EXISTS (SELECT FROM pg_namespace WHERE nspname = $1) AS may_create,
       EXISTS (SELECT FROM pg_roles AS r WHERE r.rolname = current_user
               AND (r.rolsuper OR pg_has_role('pg_checkpoint', 'USAGE'))) AS may_checkpoint,
       quote_ident(current_user) AS role, quote_ident(current_database()) AS database
