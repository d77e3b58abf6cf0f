-- No lease is longer than two minutes: one that ends later holds nothing.
INSERT INTO {{namespace}}.meeting AS held (job, rank, chunk, token, body, bytes, expires_us)
SELECT $1, $2, -1, $3, $4, '', at.us + $5
FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS us) AS at
ON CONFLICT (job, rank, chunk) DO UPDATE
SET token = excluded.token, body = excluded.body, expires_us = excluded.expires_us
WHERE held.token = excluded.token OR held.expires_us NOT BETWEEN excluded.expires_us - $5 AND excluded.expires_us - $5 + 120000000
RETURNING held.token
