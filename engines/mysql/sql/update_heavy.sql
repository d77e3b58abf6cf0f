-- Assignments are made one after the other, so the last column gets the value of the second, and every column changes.
UPDATE {{table}} FORCE INDEX (k) SET f1 = f2, f2 = f3, f3 = f4, f4 = f5, f5 = f6, f6 = f7, f7 = f8, f8 = f1,
       mark = mark + 1, tail = tail + 1
 WHERE k BETWEEN ? AND ?
