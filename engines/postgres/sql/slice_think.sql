-- A pause may outlast its slice: what is left of it is handed on.
        pause_us := least(think_until_us, end_us) - (date_part('epoch', clock_timestamp()) * 1e6)::bigint;
        IF pause_us > 0 THEN
            started := clock_timestamp();
            PERFORM pg_sleep(pause_us / 1e6);
            thought_us := thought_us + (date_part('epoch', clock_timestamp() - started) * 1e6)::bigint;
        END IF;
        EXIT WHEN think_until_us >= end_us;
