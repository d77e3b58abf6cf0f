UPDATE blocks_{schema} SET c1 = ?3, c2 = ?4 WHERE k BETWEEN ?1 AND ?2;
