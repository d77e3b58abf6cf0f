SELECT HEX(bytes) FROM {{table}} WHERE job = {{job}} AND rank_number = {{rank}} AND chunk = {{chunk}}
