-- Whether the cache still holds what was brought into it: the server runs on, and has taken few buffers for other blocks.
SELECT bool_and(r.filled_by = $2 AND b.buffers_alloc - r.filled_allocs BETWEEN 0 AND r.blocks / 50 + 200) AS holds
FROM {{namespace}}.registry AS r, pg_stat_bgwriter AS b
WHERE r.kind = 'blocks' AND r.schema <= $1
