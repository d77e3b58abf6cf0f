UPDATE {{namespace}}.registry AS r
SET filled_by = $2, filled_allocs = (SELECT b.buffers_alloc FROM pg_stat_bgwriter AS b)
WHERE r.kind = 'blocks' AND r.schema <= $1
