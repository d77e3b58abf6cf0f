SELECT pg_backend_pid() AS pid,
       array_remove(array_agg(nullif(pg_tablespace_location(oid), '')), NULL) AS tablespaces,
       CASE WHEN pg_has_role('pg_read_all_settings', 'USAGE') THEN current_setting('data_directory') END AS data_directory
FROM pg_tablespace
