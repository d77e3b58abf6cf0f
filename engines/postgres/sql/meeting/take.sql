SELECT encode(bytes, 'hex') FROM {{table}} WHERE job = {{job}} AND rank = {{rank}} AND chunk = {{chunk}}
