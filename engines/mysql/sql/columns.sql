-- Columns in their order, with the expressions of computed ones.
SELECT c.TABLE_NAME AS name, c.COLUMN_NAME AS `column`, c.COLUMN_TYPE AS type,
       CONCAT(COALESCE(c.GENERATION_EXPRESSION, ''), COALESCE(c.COLUMN_DEFAULT, '')) AS computed
FROM information_schema.COLUMNS AS c
WHERE c.TABLE_SCHEMA = ?
ORDER BY c.TABLE_NAME, c.ORDINAL_POSITION
