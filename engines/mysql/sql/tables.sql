-- Every table and view of a database; a table that was rebuilt has another time. The schema is a constant in each part,
-- because MariaDB opens the tables of every database otherwise.
SELECT t.TABLE_NAME AS name, t.TABLE_TYPE AS type, COALESCE(t.ENGINE, '') AS engine,
       COALESCE(t.TABLE_COMMENT, '') AS comment, COALESCE(t.DATA_LENGTH, 0) AS table_bytes,
       COALESCE(t.INDEX_LENGTH, 0) AS index_bytes, COALESCE(CAST(t.CREATE_TIME AS CHAR), '') AS made,
       COALESCE(CAST(t.UPDATE_TIME AS CHAR), '') AS updated,
       (SELECT MIN(g.TRIGGER_NAME) FROM information_schema.TRIGGERS AS g
        WHERE g.EVENT_OBJECT_SCHEMA = ? AND g.EVENT_OBJECT_TABLE = t.TABLE_NAME) AS `trigger`,
       (SELECT MIN(c.CONSTRAINT_NAME) FROM information_schema.TABLE_CONSTRAINTS AS c
        WHERE c.TABLE_SCHEMA = ? AND c.TABLE_NAME = t.TABLE_NAME
          AND c.CONSTRAINT_TYPE NOT IN ('PRIMARY KEY', 'UNIQUE')) AS `constraint`
FROM information_schema.TABLES AS t
WHERE t.TABLE_SCHEMA = ?
