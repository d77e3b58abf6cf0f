todo := least(batch, {{most}}, run);
        done := 0;
        started := clock_timestamp();
        FOR answer IN
            {{statement}}
        LOOP
            select_counts[answer.slot] := select_counts[answer.slot] + answer.n;
            IF answer.slot < select_first THEN
                select_first := answer.slot;
            END IF;
            IF answer.slot > select_last THEN
                select_last := answer.slot;
            END IF;
            cells[answer.facts] := cells[answer.facts] + answer.n;
            done := done + answer.n;
            sums[1] := sums[1] + answer.blocks;
            sums[2] := sums[2] + answer.sum_us;
            IF answer.max_us > sums[3] THEN
                sums[3] := answer.max_us;
            END IF;
            IF answer.max_us >= {{long_us}} THEN
                -- Others of the statement came before or after it, in a few ms where operations are short.
                longs := longs || ARRAY[0, (date_part('epoch', clock_timestamp()) * 1e6 - answer.max_us)::bigint, answer.max_us::bigint];
            END IF;
        END LOOP;
        -- Fewer than asked: the rest would have begun after the end.
        EXIT WHEN done = 0;
        {{pause}}
        op := op + done;
        -- A statement takes about 4 ms: long enough to cost nothing, short enough to hold no snapshot back.
        elapsed_us := date_part('epoch', clock_timestamp() - started) * 1e6;
        batch := greatest(1, least({{most}}, 2 * batch, (4000 * done / (elapsed_us + 1))::bigint));
