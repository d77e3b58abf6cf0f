-- The first segment of each table of the dataset; the next ones are NAME.1, NAME.2…
SELECT current_setting('data_directory') || '/' || pg_relation_filepath(c.oid) AS path
FROM pg_class AS c
WHERE c.oid = ANY ($1)
ORDER BY length(c.relname), c.relname
