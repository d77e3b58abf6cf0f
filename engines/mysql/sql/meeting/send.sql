REPLACE INTO {{table}} (job, rank_number, chunk, token, body, bytes, expires_us)
VALUES ({{job}}, {{rank}}, {{chunk}}, '', '', {{bytes}}, CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED))
