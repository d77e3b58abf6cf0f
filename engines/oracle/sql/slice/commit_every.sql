            v_pending := v_pending + 1;
            IF v_pending >= {every} THEN
                {commit};
                v_pending := 0;
            END IF;
