INSERT INTO {{table}} (job, rank, chunk, token, body, bytes, expires_us)
VALUES ({{job}}, {{rank}}, {{chunk}}, '', '', {{bytes}}, (extract(epoch FROM clock_timestamp()) * 1000000)::bigint)
ON CONFLICT (job, rank, chunk) DO UPDATE SET bytes = excluded.bytes, expires_us = excluded.expires_us
