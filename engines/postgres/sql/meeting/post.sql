UPDATE {{namespace}}.meeting
SET body = $4, expires_us = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + $5
WHERE job = $1 AND rank = $2 AND chunk = -1 AND token = $3
RETURNING token
