-- When each table of blocks was made, when its rows changed last since the server started, and its triggers.
SELECT TABLE_NAME, COALESCE(CAST(CREATE_TIME AS CHAR), ''), COALESCE(CAST(UPDATE_TIME AS CHAR), 'not since the start'),
       COALESCE((SELECT GROUP_CONCAT(g.TRIGGER_NAME ORDER BY g.TRIGGER_NAME) FROM information_schema.TRIGGERS AS g
                 WHERE g.EVENT_OBJECT_SCHEMA = TABLE_SCHEMA AND g.EVENT_OBJECT_TABLE = TABLE_NAME), 'none')
FROM information_schema.TABLES
WHERE TABLE_SCHEMA = ? AND TABLE_NAME LIKE 'blocks%'
