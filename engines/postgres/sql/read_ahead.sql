-- Settings that decide how reads are made; null if this version lacks one.
SELECT current_setting('server_version_num')::integer / 10000 AS major,
       current_setting('io_method', true) AS io_method,
       current_setting('debug_io_direct', true) AS direct
