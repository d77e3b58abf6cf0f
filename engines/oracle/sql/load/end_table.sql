/* mindful end_table */
UPDATE {registry} SET object_id = (
    SELECT o.object_id FROM user_objects o WHERE o.object_name = :name AND o.object_type = 'TABLE'
)
WHERE table_name = :name
