-- Whether the cache still contains the filled blocks: the server has not restarted, and has used few buffers for other
-- blocks.
SELECT bool_and(r.filled_by = $2 AND b.buffers_alloc - r.filled_allocs BETWEEN 0 AND r.blocks / 50 + 200) AS holds
FROM {{namespace}}.registry AS r, pg_stat_bgwriter AS b
WHERE r.kind = 'blocks' AND r.schema <= $1
