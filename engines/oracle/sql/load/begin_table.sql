/* mindful begin_table */
INSERT INTO {registry} (table_name, kind, schema_no, blocks, seed, content, shape)
VALUES (:name, :kind, :schema_no, :blocks, :seed, :content, :shape)
