SELECT slot, {{facts}} AS facts, count(*) AS n, sum(us) AS sum_us, max(us) AS max_us, sum(counted) AS blocks
            FROM (SELECT CASE WHEN us < 128 THEN us::integer ELSE least(128 + floor(ln(us / 128) * 200)::integer, {{last_bucket}}) END AS slot,
                         {{carried}}us, counted
                  FROM (SELECT greatest(date_part('epoch', ended - begun) * 1e6, 0) AS us, {{carried}}counted
                        FROM (SELECT first_key, {{choices}}clock_timestamp() AS begun
                              FROM (SELECT {{first_key}} AS first_key{{chosen}}
                                    FROM (SELECT generate_series({{op}}, {{op}} + {{todo}} - 1) AS i) AS numbers OFFSET 0) AS choices
                              OFFSET 0) AS operations,
                             LATERAL (SELECT count(seq) AS counted, clock_timestamp() AS ended FROM {{blocks}} AS b) AS visit
                        WHERE begun < {{deadline}}
                        OFFSET 0) AS timed) AS slotted
            GROUP BY slot{{by_facts}}
