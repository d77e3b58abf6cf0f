IF run = 0 THEN
            started := clock_timestamp();
            {{statement}}
            elapsed_us := greatest(date_part('epoch', clock_timestamp() - started) * 1e6, 0);
            bucket := CASE WHEN elapsed_us < 128 THEN elapsed_us::integer ELSE least(128 + floor(ln(elapsed_us / 128) * 200)::integer, {{last_bucket}}) END;
            scan_counts[bucket] := scan_counts[bucket] + 1;
            scan_first := least(scan_first, bucket);
            scan_last := greatest(scan_last, bucket);
            sums[7] := sums[7] + visited;
            sums[8] := sums[8] + elapsed_us;
            sums[9] := greatest(sums[9], elapsed_us);
            IF elapsed_us >= {{long_us}} THEN
                longs := longs || ARRAY[2, (date_part('epoch', started) * 1e6)::bigint, elapsed_us::bigint];
            END IF;
            cell := 2 + {{facts}};
            cells[cell] := cells[cell] + 1;
            {{pause}}
            op := op + 1;
            CONTINUE;
        END IF;
