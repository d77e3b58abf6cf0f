-- Null where the role may not know.
SELECT current_setting('wal_level') AS wal_level,
       coalesce(nullif(pg_tablespace_location(t.oid), ''),
                CASE WHEN pg_has_role('pg_read_all_settings', 'USAGE') THEN current_setting('data_directory') END) AS folder
FROM pg_database AS d JOIN pg_tablespace AS t ON t.oid = CASE WHEN $1::text IS NULL THEN d.dattablespace
                                                              ELSE (SELECT s.oid FROM pg_tablespace AS s WHERE s.spcname = $1) END
WHERE d.datname = current_database()
