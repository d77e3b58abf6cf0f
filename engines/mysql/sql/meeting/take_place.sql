-- The place of a process that is gone, or one's own. No lease is longer than two minutes: one that ends later holds nothing.
UPDATE {{table}}
SET token = {{token}}, body = {{body}}, expires_us = CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED) + {{lease_us}}
WHERE job = {{job}} AND rank_number = {{rank}} AND chunk = -1
  AND (token = {{token}} OR expires_us NOT BETWEEN CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED)
    AND CAST(UNIX_TIMESTAMP(NOW(6)) * 1000000 AS SIGNED) + 120000000)
