/* mindful slice */
DECLARE
    c_epoch   CONSTANT TIMESTAMP WITH TIME ZONE := TIMESTAMP '1970-01-01 00:00:00 +00:00';
    c_entry   CONSTANT PLS_INTEGER := {entry_bytes};
    c_kind    CONSTANT PLS_INTEGER := 536870912;
    c_long    CONSTANT PLS_INTEGER := 100000;
    TYPE t_counts IS TABLE OF PLS_INTEGER INDEX BY PLS_INTEGER;
    TYPE t_totals IS TABLE OF NUMBER INDEX BY PLS_INTEGER;
    v_counts  t_counts;
    v_blocks  t_totals;
    v_sums    t_totals;
    v_longest t_totals;
    v_ops     RAW(32767) := :ops;
    v_begin   NUMBER := :begin_us;
    v_end     NUMBER := :end_us;
    v_since   NUMBER := :since_us;
    v_until   NUMBER := :until_us;
    v_pending PLS_INTEGER := :pending;
    v_count   PLS_INTEGER := UTL_RAW.LENGTH(v_ops) / c_entry;
    v_done    PLS_INTEGER := 0;
    v_began   NUMBER;
    v_now     NUMBER;
    v_started NUMBER;
    v_stop    NUMBER;
    v_think   NUMBER := 0;
    v_at      PLS_INTEGER;
    v_first   PLS_INTEGER;
    v_last    PLS_INTEGER;
    v_word    PLS_INTEGER;
    v_what    PLS_INTEGER;
    v_slot    PLS_INTEGER;
    v_seen    PLS_INTEGER;
    v_us      NUMBER;
    v_place   PLS_INTEGER;
    v_of_kind PLS_INTEGER;
    v_width   NUMBER;
    v_power   PLS_INTEGER;
    v_bucket  PLS_INTEGER;
    v_packed  PLS_INTEGER := -1;
    v_sum     PLS_INTEGER := 0;
    v_long    VARCHAR2(4000);
    v_text    VARCHAR2(32767);

    FUNCTION now_us RETURN NUMBER IS
        v_span INTERVAL DAY(9) TO SECOND(6) := SYSTIMESTAMP - c_epoch;
    BEGIN
        RETURN EXTRACT(DAY FROM v_span) * 86400000000 + EXTRACT(HOUR FROM v_span) * 3600000000
            + EXTRACT(MINUTE FROM v_span) * 60000000 + ROUND(EXTRACT(SECOND FROM v_span) * 1000000);
    END now_us;

    FUNCTION word(p_at IN PLS_INTEGER) RETURN PLS_INTEGER IS
    BEGIN
        RETURN UTL_RAW.CAST_TO_BINARY_INTEGER(UTL_RAW.SUBSTR(v_ops, p_at, 4));
    END word;
BEGIN
    FOR v_each IN 0 .. 2 LOOP
        v_blocks(v_each) := 0;
        v_sums(v_each) := 0;
        v_longest(v_each) := 0;
    END LOOP;
    v_now := now_us();
    IF v_begin - v_now > 30000 THEN
        {sleep}((v_begin - v_now - 20000) / 1000000);
    END IF;
    LOOP
        v_now := now_us();
        EXIT WHEN v_now >= v_begin;
    END LOOP;
    v_began := v_now;
    WHILE v_done < v_count LOOP
        IF v_until > 0 THEN
            v_stop := LEAST(v_until, v_end);
            WHILE v_now < v_stop LOOP
                {sleep}(GREATEST(v_stop - v_now, 10000) / 1000000);
                v_now := now_us();
            END LOOP;
            v_think := v_think + GREATEST(LEAST(v_now, v_end) - v_since, 0);
            IF GREATEST(v_now, v_until) >= v_end THEN
                v_since := GREATEST(v_since, v_end);
                EXIT;
            END IF;
            v_until := 0;
        END IF;
        EXIT WHEN v_now >= v_end;
        v_at := v_done * c_entry + 1;
        v_first := word(v_at);
        v_last := v_first + word(v_at + 4);
        v_word := word(v_at + 8);
        v_what := MOD(v_word, 4);
        v_slot := TRUNC(v_word / 4);
        v_started := v_now;
        IF v_what = 0 THEN
            CASE v_slot
{selects}            END CASE;
{updates}{scans}        END IF;
        v_now := now_us();
        v_us := LEAST(GREATEST(v_now - v_started, 0), c_kind - 1);
        v_place := v_what * c_kind + v_us;
        IF v_counts.EXISTS(v_place) THEN
            v_counts(v_place) := v_counts(v_place) + 1;
        ELSE
            v_counts(v_place) := 1;
        END IF;
        v_blocks(v_what) := v_blocks(v_what) + v_seen;
        v_sums(v_what) := v_sums(v_what) + v_us;
        v_longest(v_what) := GREATEST(v_longest(v_what), v_us);
        IF v_us >= c_long AND NVL(LENGTH(v_long), 0) < 3900 THEN
            v_long := v_long || v_what || ':' || v_started || ':' || v_us || ' ';
        END IF;
        v_done := v_done + 1;
{think}    END LOOP;
    v_text := v_done || ' ' || v_began || ' ' || v_now || ' ' || v_since || ' ' || v_until || ' ' || v_think || ' '
        || v_pending || ';';
    FOR v_each IN 0 .. 2 LOOP
        v_text := v_text || v_blocks(v_each) || ' ' || v_sums(v_each) || ' ' || v_longest(v_each) || ';';
    END LOOP;
    v_text := v_text || v_long || ';';
    v_place := v_counts.FIRST;
    v_of_kind := -1;
    WHILE v_place IS NOT NULL LOOP
        IF TRUNC(v_place / c_kind) <> v_of_kind THEN
            v_of_kind := TRUNC(v_place / c_kind);
            v_width := 1;
            v_power := 0;
        END IF;
        v_us := MOD(v_place, c_kind);
        WHILE v_us * 1000 >= 256 * v_width LOOP
            v_width := v_width * 2;
            v_power := v_power + 1;
        END LOOP;
        v_bucket := v_of_kind * 5000 + v_power * 128 + TRUNC(v_us * 1000 / v_width);
        IF v_bucket <> v_packed THEN
            IF v_packed >= 0 THEN
                v_text := v_text || v_packed || ':' || v_sum || ' ';
            END IF;
            v_packed := v_bucket;
            v_sum := 0;
        END IF;
        v_sum := v_sum + v_counts(v_place);
        v_place := v_counts.NEXT(v_place);
    END LOOP;
    IF v_packed >= 0 THEN
        v_text := v_text || v_packed || ':' || v_sum;
    END IF;
    :answer := v_text;
END;
