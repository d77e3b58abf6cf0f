-- Everything but the key; one row at a time, so that each has different bytes.
UPDATE blocks_{schema} SET c1 = ?2, c2 = ?3, filler = ?4 WHERE k = ?1;
