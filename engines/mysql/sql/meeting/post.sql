UPDATE {{table}}
SET body = {{body}}, expires_us = CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED) + {{lease_us}}
WHERE job = {{job}} AND rank_number = {{rank}} AND chunk = -1 AND token = {{token}}
