UPDATE {{table}} SET mark = mark + 1, tail = tail + 1 WHERE k BETWEEN {{first_key}} AND {{first_key}} + {{reach}}
