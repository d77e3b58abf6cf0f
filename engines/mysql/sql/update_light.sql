UPDATE {{table}} FORCE INDEX (k) SET mark = mark + 1, tail = tail + 1 WHERE k BETWEEN ? AND ?
