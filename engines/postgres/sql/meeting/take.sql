SELECT bytes FROM {{namespace}}.meeting WHERE job = $1 AND rank = $2 AND chunk = $3
