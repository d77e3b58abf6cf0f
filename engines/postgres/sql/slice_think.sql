-- A pause lasts until the next operation can begin. One that outlasts its slice is counted up to the boundary and handed on.
        IF thinks_since_us > 0 THEN
            pause_us := least(think_until_us, end_us) - (date_part('epoch', clock_timestamp()) * 1e6)::bigint;
            IF pause_us > 0 THEN
                PERFORM pg_sleep(pause_us / 1e6);
            END IF;
            now_us := date_part('epoch', clock_timestamp()) * 1e6;
            thought_us := thought_us + greatest(least(now_us, end_us) - thinks_since_us, 0);
            IF greatest(now_us, think_until_us) >= end_us THEN
                thinks_since_us := greatest(thinks_since_us, end_us);
                EXIT;
            END IF;
            thinks_since_us := 0;
        END IF;
