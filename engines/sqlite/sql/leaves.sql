-- The leaves of a table in the order of its keys, with how many rows each holds.
SELECT pageno, ncell FROM dbstat WHERE name = ?1 AND pagetype = 'leaf';
