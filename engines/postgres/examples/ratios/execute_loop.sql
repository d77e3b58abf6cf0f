-- A loop that builds the text of each operation's SQL and has it planned each time, in one transaction: the way of
-- pgio. It keeps count of its mix, times every operation and keeps the longest.
CREATE FUNCTION pg_temp.execute_loop(seconds float8, unit integer, scale bigint, update_percent integer)
RETURNS bigint LANGUAGE plpgsql AS $body$
DECLARE
    deadline CONSTANT timestamptz := clock_timestamp() + seconds * interval '1 second';
    first_key bigint;
    counted bigint;
    blocks bigint := 0;
    reads integer := 0;
    updates integer := 0;
    began timestamptz;
    took interval;
    longest_read interval := '0';
    longest_update interval := '0';
BEGIN
    WHILE clock_timestamp() < deadline LOOP
        IF reads + updates >= 100 THEN
            reads := 0;
            updates := 0;
        END IF;
        first_key := 1 + floor(random() * (scale - unit + 1))::bigint;
        began := clock_timestamp();
        IF updates < update_percent AND (first_key % 2 = 0 OR reads >= 100 - update_percent) THEN
            EXECUTE format('UPDATE mindful.blocks_1 SET tail = tail + 1 WHERE k BETWEEN %s AND %s',
                           first_key, first_key + unit - 1);
            took := clock_timestamp() - began;
            longest_update := greatest(longest_update, took);
            updates := updates + 1;
        ELSE
            EXECUTE format('SELECT count(seq) FROM mindful.blocks_1 WHERE k BETWEEN %s AND %s',
                           first_key, first_key + unit - 1) INTO counted;
            took := clock_timestamp() - began;
            longest_read := greatest(longest_read, took);
            reads := reads + 1;
        END IF;
        blocks := blocks + unit;
    END LOOP;
    RETURN blocks;
END
$body$
