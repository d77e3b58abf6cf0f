-- Identifies our own sessions: those with the application name, role and database of this connection.
SELECT pg_backend_pid() AS pid,
       current_setting('application_name') AS application_name,
       (SELECT oid FROM pg_roles WHERE rolname = session_user) AS role,
       (SELECT oid FROM pg_database WHERE datname = current_database()) AS database,
       COALESCE(has_table_privilege(to_regclass('pg_catalog.pg_aios'), 'SELECT')
                AND has_function_privilege(to_regprocedure('pg_catalog.pg_get_aios()'), 'EXECUTE'), false) AS sees_reads
