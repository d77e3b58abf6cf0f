-- Timed reads of uniformly drawn keys and nothing else: the work loop as it would be if there were no knobs at all.
CREATE PROCEDURE pg_temp.plain(seconds float8, first_op bigint, INOUT visited bigint)
LANGUAGE plpgsql AS $body$
DECLARE
    deadline CONSTANT timestamptz := clock_timestamp() + seconds * interval '1 second';
    op bigint := first_op;
    batch bigint := 16;
    done bigint;
    started timestamptz;
    elapsed_us float8;
    answer record;
    counts bigint[] := array_fill(0::bigint, ARRAY[3600], ARRAY[0]);
    sums float8[] := array_fill(0::float8, ARRAY[3]);
BEGIN
    WHILE clock_timestamp() < deadline LOOP
        done := 0;
        started := clock_timestamp();
        FOR answer IN
            SELECT slot, count(*) AS n, sum(us) AS sum_us, max(us) AS max_us, sum(counted) AS blocks
            FROM (SELECT CASE WHEN us < 128 THEN us::integer ELSE least(128 + floor(ln(us / 128) * 200)::integer, 3599) END AS slot,
                         us, counted
                  FROM (SELECT greatest(date_part('epoch', ended - begun) * 1e6, 0) AS us, counted
                        FROM (SELECT first_key, clock_timestamp() AS begun
                              FROM (SELECT 1 + (hashint8extended(hashint8extended(i, 0), '42'::bigint) & 9223372036854775807) % {{starts}} AS first_key
                                    FROM (SELECT generate_series(op, op + batch - 1) AS i) AS numbers OFFSET 0) AS keys
                              OFFSET 0) AS operations,
                             LATERAL (SELECT count(seq) AS counted, clock_timestamp() AS ended
                                      FROM (SELECT seq FROM mindful.blocks_2 WHERE k BETWEEN first_key AND first_key + {{reach}}) AS b) AS visit
                        WHERE begun < deadline
                        OFFSET 0) AS timed) AS slotted
            GROUP BY slot
        LOOP
            counts[answer.slot] := counts[answer.slot] + answer.n;
            done := done + answer.n;
            sums[1] := sums[1] + answer.blocks;
            sums[2] := sums[2] + answer.sum_us;
            sums[3] := greatest(sums[3], answer.max_us);
        END LOOP;
        op := op + done;
        elapsed_us := date_part('epoch', clock_timestamp() - started) * 1e6;
        batch := greatest(1, least(1024, 2 * batch, (4000 * done / (elapsed_us + 1))::bigint));
    END LOOP;
    visited := sums[1];
END
$body$
