-- The begin of every session. The session's own path overrides all settings of database or role. It is set before the
-- first name is resolved. Temporary objects come last, because a pooled session may have those of other clients. The
-- timeout comes first, because one of a millisecond would end the other statements.
SET statement_timeout = 0;
SET search_path = pg_catalog, pg_temp;
SELECT current_user, session_user, pg_backend_pid(), (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint;
-- Independent of settings of the owner of database or role: names, numbers and bytes have the form that mindful reads,
-- and no timeout ends a statement or a session. Settings that affect figures are not changed.
SET quote_all_identifiers = off;
SET standard_conforming_strings = on;
SET backslash_quote = safe_encoding;
SET transform_null_equals = off;
SET array_nulls = on;
SET bytea_output = hex;
SET DateStyle = ISO;
SET IntervalStyle = postgres;
SET TimeZone = 'UTC';
SET extra_float_digits = 1;
SET lc_numeric = 'C';
SET row_security = on;
SET exit_on_error = off;
SET client_min_messages = warning;
SET check_function_bodies = on;
SET default_transaction_isolation = 'read committed';
SET default_transaction_deferrable = off;
SET default_table_access_method = heap;
SET vacuum_cost_delay = 0;
SET lock_timeout = 0;
SET idle_in_transaction_session_timeout = 0;
SET idle_session_timeout = 0;
SET plpgsql.extra_errors = 'none';
SET plpgsql.extra_warnings = 'none';
SET plpgsql.check_asserts = on;
-- Settings that only some versions have.
SELECT set_config(name, value, false)
FROM (VALUES ('transaction_timeout', '0'), ('debug_parallel_query', 'off'), ('force_parallel_mode', 'off'),
             ('restrict_nonsystem_relation_kind', '')) AS wanted (name, value)
     JOIN pg_settings USING (name)
WHERE setting <> value
