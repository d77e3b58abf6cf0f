/* mindful scan */
SELECT /*+ FULL(b) NO_RESULT_CACHE NO_PARALLEL(b) */ COUNT(b.seq) AS n FROM {table} b
