/* mindful look */
SELECT t.table_name, c.comments
FROM user_tables t LEFT JOIN user_tab_comments c ON c.table_name = t.table_name
WHERE t.table_name = :registry
