-- Whose sessions are ours: those that connected as this connection did.
SELECT pg_backend_pid() AS pid,
       current_setting('application_name') AS application_name,
       (SELECT oid FROM pg_roles WHERE rolname = session_user) AS role,
       (SELECT oid FROM pg_database WHERE datname = current_database()) AS database
