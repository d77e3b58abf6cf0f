/* mindful serial */
ALTER TABLE {table} NOPARALLEL
