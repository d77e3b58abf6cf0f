-- Reads that were handed over and have not come back, of all sessions of the server (18 on).
SELECT count(*) AS reads FROM pg_catalog.pg_aios WHERE state = 'SUBMITTED' AND operation = 'readv'
