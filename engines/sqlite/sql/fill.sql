-- Visits all rows in the order of their pages.
SELECT count(c1) FROM blocks_{schema} NOT INDEXED
