-- When each table of blocks was made, and when its rows changed last since the server started.
SELECT TABLE_NAME, COALESCE(CAST(CREATE_TIME AS CHAR), ''), COALESCE(CAST(UPDATE_TIME AS CHAR), 'not since the start')
FROM information_schema.TABLES
WHERE TABLE_SCHEMA = ? AND TABLE_NAME LIKE 'blocks%'
