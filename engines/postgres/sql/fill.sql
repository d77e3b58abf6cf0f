-- Visits the blocks $from to $to of a table in their order. A scan of a range of TIDs uses all of the cache. A scan of
-- the whole table uses only a ring of a few buffers.
EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF, FORMAT JSON)
SELECT count(*) FROM {{table}} WHERE ctid >= '({{from}},0)'::tid AND ctid < '({{to}},0)'::tid
