INSERT INTO {table}_{schema} (pos, k, c1, filler, c2) VALUES (?1, ?2, ?3, ?4, ?5);
