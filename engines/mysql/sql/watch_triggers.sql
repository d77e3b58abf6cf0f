-- The triggers of a database. MariaDB opens every database unless the schema is a constant, so this is no join.
SELECT EVENT_OBJECT_TABLE, TRIGGER_NAME
FROM information_schema.TRIGGERS
WHERE EVENT_OBJECT_SCHEMA = ?
