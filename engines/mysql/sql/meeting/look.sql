SELECT rank_number, token, body, expires_us < CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED) AS expired
FROM {{table}}
WHERE job = {{job}} AND chunk = -1 AND ({{rank}} < 0 OR rank_number = {{rank}})
ORDER BY rank_number
