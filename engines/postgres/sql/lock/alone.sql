-- Takes the lock of the whole if no other session holds it. A session that then works turns it into a shared lock.
SELECT pg_try_advisory_lock(hashtextextended('mindful ' || $1::text, 0)) AS taken
