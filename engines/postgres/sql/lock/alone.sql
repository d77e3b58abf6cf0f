-- Nobody else is there: the lock of the whole, which who goes on to work beside others' looks turns into a share of it.
SELECT pg_try_advisory_lock(hashtextextended('mindful ' || $1::text, 0)) AS taken
