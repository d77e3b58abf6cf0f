DELETE FROM {{table}} WHERE job = {{job}} AND ({{rank}} < 0 OR rank_number = {{rank}})
