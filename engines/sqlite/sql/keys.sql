-- The place of each key, from the index alone.
SELECT k, pos FROM blocks_{schema} INDEXED BY blocks_{schema}_k ORDER BY k;
