-- Visits the blocks in an array, in its order.
EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, SUMMARY OFF, FORMAT JSON)
SELECT count(found.k)
FROM unnest('{{blocks}}'::bigint[]) AS wanted (block)
     LEFT JOIN LATERAL (
         SELECT t.k FROM {{table}} AS t
         WHERE t.ctid >= ('(' || wanted.block || ',0)')::tid AND t.ctid < ('(' || wanted.block + 1 || ',0)')::tid
         OFFSET 0) AS found ON true
