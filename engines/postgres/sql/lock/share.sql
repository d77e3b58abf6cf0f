SELECT pg_try_advisory_lock_shared(hashtextextended('mindful ' || $1::text, 0)) AS taken
