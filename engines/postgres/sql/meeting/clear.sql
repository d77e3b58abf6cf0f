DELETE FROM {{table}} WHERE job = {{job}} AND (rank = {{rank}} OR {{rank}} < 0)
