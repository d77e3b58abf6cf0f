            v_pending := v_pending + 1;
