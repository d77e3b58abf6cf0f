-- Counts a column other than the key, so that each row's block is visited.
SELECT count(c1) FROM blocks_{schema} WHERE k BETWEEN ?1 AND ?2;
