        IF word(v_at + 12) > 0 THEN
            v_since := v_now;
            v_until := v_now + word(v_at + 12);
        END IF;
