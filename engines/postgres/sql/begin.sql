-- What every session begins with. The path is that of the session, which no setting of database or role outranks; it
-- stands before the first name is looked up. Temporary objects come last, for a pooled session may hold those of others.
SET search_path = pg_catalog, pg_temp;
SELECT current_user, session_user, pg_backend_pid(), (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint
