-- What decides how reads are made; a setting that this version does not have is null.
SELECT current_setting('server_version_num')::integer / 10000 AS major,
       current_setting('io_method', true) AS io_method,
       current_setting('debug_io_direct', true) AS direct
