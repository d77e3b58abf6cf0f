-- The leaves of a table in the order of its keys, with how many rows each holds. Of temp, where objects of the file
-- cannot replace SQLite's own table.
SELECT pageno, ncell FROM temp.dbstat WHERE name = ?1 AND pagetype = 'leaf';
