/* mindful forget_table */
DELETE FROM {registry} WHERE table_name = :name
