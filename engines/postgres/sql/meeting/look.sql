-- No lease is longer than two minutes, so one that ends later is not valid.
SELECT rank, token, body, (expires_us NOT BETWEEN at.us AND at.us + 120000000)::integer AS expired
FROM {{table}}, (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS us) AS at
WHERE job = {{job}} AND chunk = -1 AND (rank = {{rank}} OR {{rank}} < 0)
ORDER BY rank
