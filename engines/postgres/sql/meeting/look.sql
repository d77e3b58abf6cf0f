-- No lease is longer than two minutes, so one that ends later is not valid.
SELECT rank, token, body, expires_us NOT BETWEEN at.us AND at.us + 120000000 AS expired
FROM {{namespace}}.meeting, (SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS us) AS at
WHERE job = $1 AND chunk = -1 AND (rank = $2 OR $2 < 0)
ORDER BY rank
