-- No other session is there: takes the lock of the whole. A session that then works turns it into a shared lock.
SELECT pg_try_advisory_lock(hashtextextended('mindful ' || $1::text, 0)) AS taken
