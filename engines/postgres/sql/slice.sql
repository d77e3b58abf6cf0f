-- One slice of a session's work: waits for its begin, works until its end, returns a report. Rendered for one session
-- and kept in pg_temp, so it disappears with the session. Instants are microseconds since the epoch.
CREATE PROCEDURE pg_temp.slice(
    -- The end of the slice is the first of the ends that is not over. A call without a first operation was sent before
    -- the answer of the previous one was read, and continues after that one.
    begin_us bigint, ends_us bigint[], first_op bigint, last_op bigint, number bigint,
    -- Two instants between which counters are not read; null: they are read at each end.
    unread_us bigint[],
    -- A pause that the slice before hands on: not yet reported since, not to be ended before. No pause: 0.
    INOUT thinks_since_us bigint, INOUT think_until_us bigint,
    OUT place integer, OUT began_us bigint, OUT ended_us bigint, OUT thought_us bigint, OUT totals bigint[],
    OUT selects bigint[], OUT updates bigint[], OUT scans bigint[], OUT tally bigint[],
    -- Kind, begin and length in us of each operation that took long.
    OUT longs bigint[])
LANGUAGE plpgsql AS {{quote}}
DECLARE
    -- Number, next operation, end and pause of the call before, which this session keeps for itself.
    left_by bigint[];
    called_us bigint;
    end_us bigint;
    deadline timestamptz;
    op bigint := first_op;
    -- Single reads up to the next update or scan, and how many of them go into one statement.
    run bigint;
    batch bigint := 16;
    todo bigint;
    done bigint;
    next_update bigint := 9223372036854775807;
    reads bigint;
    started timestamptz;
    elapsed_us float8;
    visited bigint;
    bucket integer;
    cell integer;
    now_us bigint;
    pause_us bigint;
    uncommitted bigint := 0;
    answer record;
BEGIN
    now_us := date_part('epoch', clock_timestamp()) * 1e6;
    called_us := now_us;
    IF first_op IS NULL THEN
        left_by := string_to_array(current_setting('mindful.slice', true), ' ')::bigint[];
        -- The call before failed or was cancelled: the client does not wait for this one.
        IF left_by[1] IS DISTINCT FROM number - 1 THEN
            RETURN;
        END IF;
        op := left_by[2];
        now_us := greatest(now_us, left_by[3]);
        thinks_since_us := left_by[4];
        think_until_us := left_by[5];
    END IF;
    place := 0;
    -- An operation may outlast whole slices.
    FOREACH end_us IN ARRAY ends_us LOOP
        place := place + 1;
        EXIT WHEN end_us > now_us;
    END LOOP;
    IF first_op IS NULL AND end_us <= now_us THEN
        place := 0;
        left_by[1] := number;
        PERFORM set_config('mindful.slice', array_to_string(left_by, ' '), false);
        RETURN;
    END IF;
    deadline := timestamptz 'epoch' + end_us * interval '1 microsecond';
<<work>>
DECLARE
    -- Latencies by bucket: whole microseconds below 128, then steps of half a percent. A kind that does not run has one.
    select_counts bigint[] := array_fill(0::bigint, ARRAY[{{select_buckets}}], ARRAY[0]);
    update_counts bigint[] := array_fill(0::bigint, ARRAY[{{update_buckets}}], ARRAY[0]);
    scan_counts bigint[] := array_fill(0::bigint, ARRAY[{{scan_buckets}}], ARRAY[0]);
    -- First and last bucket in use; none: first is greater than last.
    select_first integer := 1000000;
    select_last integer := 0;
    update_first integer := 1000000;
    update_last integer := 0;
    scan_first integer := 1000000;
    scan_last integer := 0;
    -- Blocks, sum and maximum of latencies in us: select, update, scan.
    sums float8[] := array_fill(0::float8, ARRAY[9]);
    cells bigint[] := array_fill(0::bigint, ARRAY[32], ARRAY[0]);
    -- Time of the last check, and the time in operations and pauses up to then.
    looked_us bigint;
    look_again timestamptz;
    spent_us float8 := 0;
    outside_us float8;
BEGIN
    thought_us := 0;
    longs := ARRAY[]::bigint[];
    -- Without a pause the begin of a session shows its delay.
    elapsed_us := begin_us - date_part('epoch', clock_timestamp()) * 1e6;
    IF elapsed_us > 0 THEN
        PERFORM pg_sleep(elapsed_us / 1e6);
    END IF;
    -- A session that pauses across the boundary is in time for it, however late this call came.
    began_us := CASE WHEN thinks_since_us > 0 THEN thinks_since_us ELSE date_part('epoch', clock_timestamp()) * 1e6 END;
    looked_us := date_part('epoch', clock_timestamp()) * 1e6;
    LOOP
        look_again := least(deadline, clock_timestamp() + {{long_us}} * interval '1 microsecond');
        LOOP
            EXIT WHEN op >= last_op;
            {{think}}
            EXIT WHEN clock_timestamp() >= look_again;
            run := last_op - op;
            {{mix}}
            {{update}}
            {{scan}}
            {{select}}
        END LOOP;
        -- A stop between two operations counts as one inside an operation does; it ended just now. A check after each
        -- update would cost a fifth of its CPU.
        now_us := date_part('epoch', clock_timestamp()) * 1e6;
        outside_us := now_us - looked_us + spent_us;
        spent_us := sums[2] + sums[5] + sums[8] + thought_us;
        outside_us := outside_us - spent_us;
        IF outside_us >= {{long_us}} THEN
            longs := longs
                || ARRAY[CASE WHEN sums[1] > 0 THEN 0 WHEN sums[4] > 0 THEN 1 ELSE 2 END, now_us - outside_us::bigint, outside_us::bigint];
        END IF;
        looked_us := now_us;
        EXIT WHEN op >= last_op OR thinks_since_us >= end_us OR clock_timestamp() >= deadline;
    END LOOP;
    COMMIT;
    ended_us := CASE WHEN thinks_since_us > 0 THEN thinks_since_us ELSE date_part('epoch', clock_timestamp()) * 1e6 END;
    -- Counters become visible when this call ends, so values read after it are exact. A session that forces this waits
    -- while others add up theirs. Of many sessions, one that continues does not force it, because the server publishes
    -- a second after the last time, without waiting.
    IF unread_us IS NULL OR ended_us >= unread_us[2] OR (began_us < unread_us[1] AND ended_us - called_us < 1050000) THEN
        PERFORM pg_stat_force_next_flush();
    END IF;
    totals := sums::bigint[];
    -- The first bucket in use, then the counts from there to the last in use: a session must be ready for its next
    -- slice at once, and a search through all buckets takes half a millisecond of CPU.
    selects := select_first::bigint || select_counts[select_first:select_last];
    updates := update_first::bigint || update_counts[update_first:update_last];
    scans := scan_first::bigint || scan_counts[scan_first:scan_last];
    tally := cells;
    PERFORM set_config('mindful.slice', concat_ws(' ', number, op, end_us, thinks_since_us, think_until_us), false);
END work;
END
{{quote}}
