-- An existing row is not changed.
INSERT INTO {{table}} (job, rank_number, chunk, token, body, bytes, expires_us)
VALUES ({{job}}, {{rank}}, -1, {{token}}, {{body}}, '', CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED) + {{lease_us}})
ON DUPLICATE KEY UPDATE chunk = -1
