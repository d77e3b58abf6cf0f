-- The first segment of each table of the dataset; the next ones are NAME.1, NAME.2…
SELECT current_setting('data_directory') || '/' || pg_relation_filepath(c.oid) AS path
FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
WHERE n.nspname = $1::text AND c.relkind = 'r' AND c.relname ~ '^blocks_[0-9]+$'
ORDER BY length(c.relname), c.relname
