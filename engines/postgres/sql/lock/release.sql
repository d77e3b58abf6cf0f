SELECT pg_advisory_unlock(hashtextextended('mindful ' || $1::text, 0))
