            WHEN {slot} THEN
                SELECT /*+ FULL(b) NO_RESULT_CACHE NO_PARALLEL(b) */ COUNT(b.seq)
                INTO v_seen FROM {table} b;
