/* mindful clock_cost */
DECLARE
    v_at    TIMESTAMP WITH TIME ZONE;
    v_began PLS_INTEGER := DBMS_UTILITY.GET_TIME;
BEGIN
    FOR v_each IN 1 .. 100000 LOOP
        v_at := SYSTIMESTAMP;
    END LOOP;
    :answer := TO_CHAR((DBMS_UTILITY.GET_TIME - v_began) * 10000);
END;
