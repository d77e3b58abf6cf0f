DELETE FROM {{namespace}}.meeting
WHERE expires_us < (extract(epoch FROM clock_timestamp()) * 1000000)::bigint - $1
