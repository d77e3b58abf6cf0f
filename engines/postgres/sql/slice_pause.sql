pause_us := {{pause_us}};
        IF pause_us > 0 THEN
            thinks_since_us := date_part('epoch', clock_timestamp()) * 1e6;
            think_until_us := thinks_since_us + pause_us;
        END IF;
