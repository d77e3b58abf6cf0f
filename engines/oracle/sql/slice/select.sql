            WHEN {slot} THEN
                SELECT /*+ INDEX(b {table}_K) NO_BATCH_TABLE_ACCESS_BY_ROWID(b) NO_RESULT_CACHE NO_PARALLEL(b) */
                    COUNT(b.seq)
                INTO v_seen FROM {table} b WHERE b.k BETWEEN v_first AND v_last;
