pause_us := {{pause_us}};
        IF pause_us > 0 THEN
            think_until_us := (date_part('epoch', clock_timestamp()) * 1e6)::bigint + pause_us;
        END IF;
