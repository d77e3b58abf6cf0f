SELECT rank, token, body, expires_us < (extract(epoch FROM clock_timestamp()) * 1000000)::bigint AS expired
FROM {{namespace}}.meeting
WHERE job = $1 AND chunk = -1 AND (rank = $2 OR $2 < 0)
ORDER BY rank
