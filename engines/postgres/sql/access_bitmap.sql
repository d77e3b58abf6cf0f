-- All rows of an operation are found in the index first, then their blocks are read in the order of the table.
SET enable_indexscan = off;
SET enable_bitmapscan = on
