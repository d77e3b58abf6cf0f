/* mindful update */
UPDATE /*+ INDEX(b {table}_K) NO_PARALLEL(b) */ {table} b SET {changes}
WHERE b.k BETWEEN :first_key AND :last_key
