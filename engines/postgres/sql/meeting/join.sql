-- No lease is longer than two minutes: one that ends later holds nothing.
INSERT INTO {{table}} AS held (job, rank, chunk, token, body, bytes, expires_us)
SELECT {{job}}, {{rank}}, -1, {{token}}, {{body}}, '', at.us + {{lease_us}}
FROM (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS us) AS at
ON CONFLICT (job, rank, chunk) DO UPDATE
SET token = excluded.token, body = excluded.body, expires_us = excluded.expires_us
WHERE held.token = excluded.token
    OR held.expires_us NOT BETWEEN excluded.expires_us - {{lease_us}} AND excluded.expires_us - {{lease_us}} + 120000000
