-- Whatever else stands in the file.
SELECT type || ' ' || name FROM sqlite_schema
WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' AND tbl_name NOT IN (SELECT value FROM json_each(?1))
ORDER BY name;
