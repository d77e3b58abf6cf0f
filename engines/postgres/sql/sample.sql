-- The keys in the blocks $1, one line a row; a block without a row has none.
SELECT drawn.block, found.k
FROM unnest($1::bigint[]) AS drawn (block)
     LEFT JOIN LATERAL (
         -- Not pulled up, so that each block is read separately.
         SELECT t.k FROM {{table}} AS t
         WHERE t.ctid >= ('(' || drawn.block || ',0)')::tid AND t.ctid < ('(' || drawn.block + 1 || ',0)')::tid
         OFFSET 0) AS found ON true
