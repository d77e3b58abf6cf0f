(SELECT a.n AS l, b.n AS r, a.n * {right} + b.n AS seq
    FROM (SELECT LEVEL - 1 AS n FROM dual CONNECT BY LEVEL <= {left}) a
    CROSS JOIN (SELECT LEVEL - 1 AS n FROM dual CONNECT BY LEVEL <= {right}) b)
