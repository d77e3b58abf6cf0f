/* mindful select */
SELECT /*+ INDEX(b {table}_K) NO_BATCH_TABLE_ACCESS_BY_ROWID(b) NO_RESULT_CACHE NO_PARALLEL(b) */ COUNT(b.seq) AS n
FROM {table} b WHERE b.k BETWEEN :first_key AND :last_key
