            WHEN {slot} THEN
                UPDATE /*+ INDEX(b {table}_K) NO_PARALLEL(b) */ {table} b SET {changes}
                WHERE b.k BETWEEN v_first AND v_last;
