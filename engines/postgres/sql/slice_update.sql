IF next_update = op THEN
            started := clock_timestamp();
            {{statement}}
            GET DIAGNOSTICS visited = ROW_COUNT;
            {{commit}}
            elapsed_us := greatest(date_part('epoch', clock_timestamp() - started) * 1e6, 0);
            bucket := CASE WHEN elapsed_us < 128 THEN elapsed_us::integer ELSE least(128 + floor(ln(elapsed_us / 128) * 200)::integer, {{last_bucket}}) END;
            update_counts[bucket] := update_counts[bucket] + 1;
            update_first := least(update_first, bucket);
            update_last := greatest(update_last, bucket);
            sums[4] := sums[4] + visited;
            sums[5] := sums[5] + elapsed_us;
            sums[6] := greatest(sums[6], elapsed_us);
            IF elapsed_us >= {{long_us}} THEN
                longs := longs || ARRAY[1, (date_part('epoch', started) * 1e6)::bigint, elapsed_us::bigint];
            END IF;
            cell := 1 + {{facts}};
            cells[cell] := cells[cell] + 1;
            {{pause}}
            op := op + 1;
            CONTINUE;
        END IF;
