/* mindful standing */
SELECT object_name FROM user_objects
WHERE object_type = 'TABLE' AND object_name LIKE :names ESCAPE '!'
ORDER BY object_name
