SELECT current_setting('server_version') AS version,
       current_setting('block_size')::bigint AS block_bytes,
       pg_size_bytes(current_setting('shared_buffers')) AS cache_bytes,
       (extract(epoch FROM pg_postmaster_start_time()) * 1000000)::bigint::text AS instance
