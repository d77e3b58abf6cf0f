UPDATE {{table}}
SET body = {{body}}, expires_us = (extract(epoch FROM clock_timestamp()) * 1000000)::bigint + {{lease_us}}
WHERE job = {{job}} AND rank = {{rank}} AND chunk = -1 AND token = {{token}}
