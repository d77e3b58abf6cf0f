-- No lease is longer than two minutes, so one that ends later is not valid.
SELECT rank_number, token, body, expires_us NOT BETWEEN CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)
    AND CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED) + 120000000 AS expired
FROM {{table}}
WHERE job = {{job}} AND chunk = -1 AND ({{rank}} < 0 OR rank_number = {{rank}})
ORDER BY rank_number
