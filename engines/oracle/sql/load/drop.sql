/* mindful drop */
DROP TABLE {table} PURGE
